//! Which families are golden: those whose conversations come nearest to the share that was asked for.

use sha2::{Digest, Sha256};

/// Families that stay together.
#[derive(Debug, Clone)]
pub struct Block {
    /// The first of their names, which stands for them.
    pub name: String,
    pub conversations: usize,
}

/// True for each block that is golden. Both sides get one at least if there are two, unless no golden part is wanted. Of
/// the choices that come equally near, the seed decides.
pub fn golden(blocks: &[Block], share: f64, seed: u64) -> Vec<bool> {
    let mut golden = vec![false; blocks.len()];
    if share <= 0.0 || blocks.len() < 2 {
        return golden;
    }
    let total: usize = blocks.iter().map(|block| block.conversations).sum();
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts are far below 2^52, and a share of one is no more than it"
    )]
    let wanted = (total as f64 * share).round() as usize;
    let order = drawn(blocks, seed);
    // A sum of everything would leave nothing to train on; and of a sum above this, one could do without a block.
    let largest = blocks.iter().map(|block| block.conversations).max().unwrap_or_default();
    let bound = total.min(wanted + largest + 1);
    // By sum: the block that first made it possible, out of a sum that was possible before.
    let mut made: Vec<Option<usize>> = vec![None; bound];
    for block in order {
        let size = blocks[block].conversations;
        for sum in (size..bound).rev() {
            if made[sum].is_none() && (sum == size || made[sum - size].is_some()) {
                made[sum] = Some(block);
            }
        }
    }
    let reached = (1..bound).filter(|sum| made[*sum].is_some()).min_by_key(|sum| (sum.abs_diff(wanted), *sum));
    let mut left = reached.unwrap_or_default();
    while let Some(block) = made.get(left).copied().flatten() {
        golden[block] = true;
        left -= blocks[block].conversations;
    }
    golden
}

/// The blocks in an order that depends on their names and the seed alone.
fn drawn(blocks: &[Block], seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_cached_key(|i| {
        let drawn = Sha256::new_with_prefix(seed.to_be_bytes()).chain_update(&blocks[*i].name).finalize();
        (drawn.to_vec(), blocks[*i].name.clone())
    });
    order
}
