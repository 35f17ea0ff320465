//! Claims: ranges of a run's positions that players hold.
//!
//! A claim belongs to a player as long as the player's row is there ([`players`](super::players)). What was left behind waits
//! for the next one.

use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use super::{Result, StoreError};

/// Where players hear that there is something to claim, of runs that are as they were.
pub const CHANNEL: &str = "groundstate_claims";

/// Positions of a run that one player plays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub run_id: Uuid,
    pub first_position: i32,
    pub last_position: i32,
    /// Somebody else has begun with it.
    pub left_behind: bool,
    /// How many players ended while they held it.
    pub deaths: i16,
}

/// After so many deaths a claim is in quarantine: its tasks are played one at a time, each in a process of its own.
pub const DEATHS_TO_QUARANTINE: i16 = 2;

/// Whether a player accepts claims that are in quarantine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum QuarantinePolicy {
    #[default]
    Skip,
    Only,
    /// For commands that play one run: nobody else may be there to do it.
    Also,
}

impl QuarantinePolicy {
    /// The answers to "is it in quarantine" that are taken.
    const fn wanted(self) -> &'static [bool] {
        match self {
            Self::Skip => &[false],
            Self::Only => &[true],
            Self::Also => &[false, true],
        }
    }
}

/// The claims that a player accepts.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClaimRequest<'a> {
    /// Kinds of runs.
    pub kinds: &'a [&'a str],
    /// Positions at most.
    pub most: i32,
    pub only: Option<Uuid>,
    /// Runs that this player cannot play.
    pub except: &'a [Uuid],
    pub quarantined: QuarantinePolicy,
}

impl ClaimRequest<'_> {
    fn kinds(&self) -> Vec<String> {
        self.kinds.iter().map(|kind| (*kind).to_owned()).collect()
    }
}

impl Claim {
    pub fn positions(&self) -> std::ops::RangeInclusive<i32> {
        self.first_position..=self.last_position
    }
}

/// How many tasks wait in quarantine for a process of their own.
pub async fn in_quarantine(db: &mut PgConnection) -> Result<i64> {
    let waiting = sqlx::query_scalar!(
        r#"SELECT coalesce(sum(last_position - first_position + 1), 0)::bigint AS "waiting!"
           FROM claims JOIN runs ON runs.id = run_id
           WHERE deaths >= $1 AND player IS NULL AND state = 'running' AND finished_at IS NULL"#,
        DEATHS_TO_QUARANTINE
    );
    Ok(waiting.fetch_one(db).await?)
}

/// Whether a claim was refused because its player was given up.
pub fn is_given_up(error: &StoreError) -> bool {
    let StoreError::Database(sqlx::Error::Database(error)) = error else { return false };
    error.constraint() == Some("claims_player_fkey")
}

/// Claims positions of the run that is next: of the project that is played least, of its runs those of the highest priority, and
/// of those the one that is played least. So a project with many runs takes nothing from others. What others left behind of a run
/// comes before what is new of it. `None` if there is nothing to play.
///
/// # Errors
/// Also if the player was given up ([`is_given_up`]).
pub async fn claim(db: &mut PgConnection, player: i64, wanted: &ClaimRequest<'_>) -> Result<Option<Claim>> {
    let waiting = waiting(&mut *db).await?;
    let run = if waiting.left_behind { left_behind(&mut *db, wanted).await? } else { None };
    claim_one(db, player, wanted, run, waiting.new).await
}

/// Like [`claim`], and of claims of one position many at once.
///
/// # Errors
/// Also if the player was given up ([`is_given_up`]).
pub async fn claim_some(db: &mut PgConnection, player: i64, wanted: &ClaimRequest<'_>) -> Result<Vec<Claim>> {
    let waiting = waiting(&mut *db).await?;
    let run = if waiting.left_behind { left_behind(&mut *db, wanted).await? } else { None };
    if let Some(run) = run
        && wanted.quarantined != QuarantinePolicy::Only
    {
        let claims = claim_single_positions(&mut *db, player, run, wanted.most).await?;
        if !claims.is_empty() {
            return Ok(claims);
        }
    }
    Ok(claim_one(db, player, wanted, run, waiting.new).await?.into_iter().collect())
}

/// A claim that was left behind of a run, or else something new, if there may be any.
async fn claim_one(
    db: &mut PgConnection,
    player: i64,
    wanted: &ClaimRequest<'_>,
    left_behind: Option<Uuid>,
    may_be_new: bool,
) -> Result<Option<Claim>> {
    if let Some(run) = left_behind {
        let mut tx = db.begin().await?;
        let claim = claim_left(&mut tx, player, wanted, run).await?;
        tx.commit().await?;
        if claim.is_some() {
            return Ok(claim);
        }
    }
    if wanted.quarantined == QuarantinePolicy::Only || !may_be_new {
        return Ok(None);
    }
    let mut tx = db.begin().await?;
    let claim = claim_new(&mut tx, player, wanted).await?;
    tx.commit().await?;
    Ok(claim)
}

/// Frees claims that the player does not know of: the answer to the statement that made them was lost.
pub async fn free_unknown(db: &mut PgConnection, player: i64, known: &[(Uuid, i32)]) -> Result<u64> {
    let (runs, firsts): (Vec<Uuid>, Vec<i32>) = known.iter().copied().unzip();
    let freed = sqlx::query!(
        "UPDATE claims SET player = NULL WHERE player = $1 AND (run_id, first_position) NOT IN (
             SELECT run, first FROM unnest($2::uuid[], $3::int[]) AS known (run, first))",
        player,
        &runs,
        &firsts
    );
    Ok(freed.execute(db).await?.rows_affected())
}

/// What there is to claim, whoever may claim it.
struct Waiting {
    left_behind: bool,
    /// Positions that were never claimed.
    new: bool,
}

/// Mostly there is nothing, and then there is no need to compare all runs, nor to lock one.
async fn waiting(db: &mut PgConnection) -> Result<Waiting> {
    let waiting = sqlx::query_as!(
        Waiting,
        r#"SELECT EXISTS (SELECT FROM claims JOIN runs ON runs.id = run_id
               WHERE player IS NULL AND state = 'running' AND finished_at IS NULL) AS "left_behind!",
             EXISTS (SELECT FROM runs WHERE state = 'running' AND finished_at IS NULL
               AND next_position < least(planned, (budget ->> 'conversations')::int)) AS "new!""#
    );
    Ok(waiting.fetch_one(db).await?)
}

/// A run with a claim that nobody holds, and with room for it. Runs that have something new to play go first if their project is
/// played less, or else if they are of higher priority, or of the same and played less.
async fn left_behind(db: &mut PgConnection, wanted: &ClaimRequest<'_>) -> Result<Option<Uuid>> {
    let run = sqlx::query_scalar!(
        "WITH shares AS (
             SELECT project_id, sum(last_position - first_position + 1) AS held
             FROM claims JOIN runs ON runs.id = run_id WHERE player IS NOT NULL GROUP BY project_id
         ), open AS (
             SELECT r.id, coalesce(shares.held, 0) AS share, r.priority, r.created_at, r.max_in_flight,
                 r.next_position < least(r.planned, (r.budget ->> 'conversations')::int) AS has_new,
                 coalesce(sum(played), 0) AS claimed, coalesce(sum(played) FILTER (WHERE player IS NOT NULL), 0) AS held,
                 coalesce(sum(positions) FILTER (WHERE player IS NOT NULL), 0) AS busy
             FROM runs r LEFT JOIN shares USING (project_id) LEFT JOIN LATERAL (
                 SELECT player, last_position - first_position + 1 AS positions, CASE WHEN r.max_in_flight IS NOT NULL
                     THEN not_ended(run_id, first_position, last_position) END AS played
                 FROM claims WHERE run_id = r.id
             ) AS c ON true
             WHERE r.state = 'running' AND r.finished_at IS NULL AND r.kind = ANY($2)
                 AND ($1::uuid IS NULL OR r.id = $1) AND r.id <> ALL($3) GROUP BY r.id, shares.held
         )
         SELECT run_id FROM claims JOIN open ON open.id = run_id
         WHERE player IS NULL AND (deaths >= $4) = ANY($5) AND (max_in_flight IS NULL OR held < max_in_flight) AND NOT EXISTS (
             SELECT FROM open AS other WHERE other.has_new
                 AND (other.share, -other.priority::bigint, other.busy) < (open.share, -open.priority::bigint, open.busy)
                 AND (other.max_in_flight IS NULL OR other.claimed < other.max_in_flight))
         ORDER BY open.share, open.priority DESC, open.created_at, first_position LIMIT 1",
        wanted.only,
        &wanted.kinds(),
        wanted.except,
        DEATHS_TO_QUARANTINE,
        wanted.quarantined.wanted()
    );
    Ok(run.fetch_optional(db).await?)
}

/// The first claim of a run that nobody holds, or as much of it as there is room for; what is left of it waits for somebody
/// else. `None` if others were faster.
async fn claim_left(db: &mut PgConnection, player: i64, wanted: &ClaimRequest<'_>, run: Uuid) -> Result<Option<Claim>> {
    let row = sqlx::query!(
        "SELECT id FROM runs WHERE id = $1 AND state = 'running' AND finished_at IS NULL FOR NO KEY UPDATE",
        run
    );
    if row.fetch_optional(&mut *db).await?.is_none() {
        return Ok(None);
    }
    // As in `claim_new`, only now is known what others hold of the run. `claim_single_positions` does not lock the
    // run's row, so claims that it is taking are skipped.
    let left = sqlx::query_as!(
        Claim,
        r#"WITH found AS (
             SELECT first_position, last_position, deaths, least($2, (SELECT CASE WHEN max_in_flight IS NOT NULL
                 THEN max_in_flight - (SELECT coalesce(sum(not_ended(run_id, first_position, last_position)), 0)::int
                                       FROM claims WHERE run_id = $3 AND player IS NOT NULL) END
                 FROM runs WHERE id = $3)) AS room
             FROM claims WHERE run_id = $3 AND player IS NULL AND (deaths >= $4) = ANY($5)
             ORDER BY first_position LIMIT 1 FOR UPDATE SKIP LOCKED
         ), rest AS (
             INSERT INTO claims (run_id, first_position, last_position, deaths)
             SELECT $3, first_position + room, last_position, deaths FROM found
             WHERE room > 0 AND first_position + room <= last_position
         )
         UPDATE claims SET player = $1, last_position = least(found.last_position, found.first_position + room - 1)
         FROM found WHERE run_id = $3 AND claims.first_position = found.first_position AND room > 0
         RETURNING run_id, claims.first_position, claims.last_position, true AS "left_behind!", claims.deaths"#,
        player,
        wanted.most,
        run,
        DEATHS_TO_QUARANTINE,
        wanted.quarantined.wanted()
    );
    Ok(left.fetch_optional(db).await?)
}

/// Takes claims of one position each that were left behind of a run: new episodes and answers to those that are with no player make
/// them one by one, and a statement takes many. It does not lock the run's row, so it does not wait for episodes that are being
/// opened. None of a run that bounds what is played of it at once.
pub async fn claim_single_positions(db: &mut PgConnection, player: i64, run: Uuid, most: i32) -> Result<Vec<Claim>> {
    let claims = sqlx::query_as!(
        Claim,
        r#"UPDATE claims SET player = $1 WHERE run_id = $2 AND first_position IN (
             SELECT first_position FROM claims JOIN runs ON runs.id = run_id
             WHERE run_id = $2 AND player IS NULL AND first_position = last_position AND deaths < $4
                 AND state = 'running' AND finished_at IS NULL AND max_in_flight IS NULL
             ORDER BY first_position LIMIT $3 FOR UPDATE OF claims SKIP LOCKED)
         RETURNING run_id, first_position, last_position, true AS "left_behind!", deaths"#,
        player,
        run,
        i64::from(most),
        DEATHS_TO_QUARANTINE
    );
    Ok(claims.fetch_all(db).await?)
}

async fn claim_new(db: &mut PgConnection, player: i64, wanted: &ClaimRequest<'_>) -> Result<Option<Claim>> {
    let next = sqlx::query_scalar!(
        "WITH shares AS (
             SELECT project_id, sum(last_position - first_position + 1) AS held
             FROM claims JOIN runs ON runs.id = run_id WHERE player IS NOT NULL GROUP BY project_id
         )
         SELECT r.id FROM runs r LEFT JOIN shares USING (project_id) CROSS JOIN LATERAL (
             SELECT coalesce(sum(last_position - first_position + 1) FILTER (WHERE player IS NOT NULL), 0) AS positions, coalesce(sum(
                 CASE WHEN r.max_in_flight IS NOT NULL THEN not_ended(run_id, first_position, last_position) END), 0) AS played
             FROM claims WHERE run_id = r.id
         ) AS busy
         WHERE r.state = 'running' AND r.finished_at IS NULL AND r.kind = ANY($2) AND ($1::uuid IS NULL OR r.id = $1) AND r.id <> ALL($3)
           AND r.next_position < least(r.planned, (r.budget ->> 'conversations')::int)
           AND (r.max_in_flight IS NULL OR busy.played < r.max_in_flight)
         ORDER BY coalesce(shares.held, 0), r.priority DESC, busy.positions, r.created_at LIMIT 1 FOR UPDATE OF r",
        wanted.only,
        &wanted.kinds(),
        wanted.except
    );
    let Some(run) = next.fetch_optional(&mut *db).await? else { return Ok(None) };
    // A statement of its own: only now, with the run's row locked, is what others hold of it known.
    let new = sqlx::query_as!(
        Claim,
        r#"WITH next AS (
             SELECT next_position, least($2, least(planned, (budget ->> 'conversations')::int) - next_position,
                 CASE WHEN max_in_flight IS NOT NULL THEN max_in_flight - (
                     SELECT coalesce(sum(not_ended(run_id, first_position, last_position)), 0)::int
                     FROM claims WHERE run_id = $3) END) AS positions FROM runs WHERE id = $3
         ), taken AS (
             UPDATE runs SET started_at = coalesce(started_at, now()), next_position = runs.next_position + positions
             FROM next WHERE runs.id = $3 AND positions > 0
             RETURNING next.next_position AS first_position, runs.next_position - 1 AS last_position
         )
         INSERT INTO claims (run_id, first_position, last_position, player)
         SELECT $3, first_position, last_position, $1 FROM taken
         RETURNING run_id, first_position, last_position, false AS "left_behind!", deaths"#,
        player,
        wanted.most,
        run
    );
    Ok(new.fetch_optional(db).await?)
}

/// Ends claims of one run, named by their first positions: all their positions have ended. True if the run has ended with them.
/// Of a player that was given up nothing is heard: others hold its claims.
pub async fn done(db: &mut PgConnection, player: i64, run: Uuid, claims: &[i32]) -> Result<bool> {
    // The lock makes players that end the last claims of a run take turns, so that one of them sees that it has ended. A run of
    // episodes has no end, and all its positions are claimed when they are added: whoever opens one need not wait.
    let all_claimed = sqlx::query_scalar!(
        r#"SELECT next_position >= least(planned, (budget ->> 'conversations')::int) AS "all_claimed!"
           FROM runs WHERE id = $1 AND kind <> $2 FOR NO KEY UPDATE"#,
        run,
        super::runs::EPISODES
    );
    let all_claimed = all_claimed.fetch_optional(&mut *db).await?.unwrap_or(false);
    let own = sqlx::query!(
        "DELETE FROM claims WHERE run_id = $1 AND first_position = ANY($2) AND player = $3",
        run,
        claims,
        player
    );
    if own.execute(&mut *db).await?.rows_affected() == 0 || !all_claimed {
        return Ok(false);
    }
    // A run that may begin no more conversations waits until somebody lets it.
    sqlx::query!(
        "UPDATE runs SET state = 'paused', paused_because = 'the budget of conversations is used up'
         WHERE id = $1 AND state = 'running' AND next_position < planned
             AND next_position >= (budget ->> 'conversations')::int AND NOT EXISTS (SELECT FROM claims WHERE run_id = $1)",
        run
    )
    .execute(&mut *db)
    .await?;
    let ended = sqlx::query!(
        "UPDATE runs SET finished_at = now() WHERE id = $1 AND next_position = planned AND finished_at IS NULL
             AND NOT EXISTS (SELECT FROM claims WHERE run_id = $1)",
        run
    );
    Ok(ended.execute(db).await?.rows_affected() > 0)
}

/// Gives up claims whose tasks wait for somebody outside: an answer makes new ones. True if some were answered meanwhile; their
/// claims wait for whoever comes next.
pub async fn park(db: &mut PgConnection, player: i64, run: Uuid, claims: &[i32]) -> Result<bool> {
    // An answer locks the claim as well. So an answer that is not seen below comes after this, and makes a new claim.
    sqlx::query!(
        "SELECT FROM claims WHERE run_id = $1 AND first_position = ANY($2) AND player = $3
         ORDER BY first_position FOR UPDATE",
        run,
        claims,
        player
    )
    .fetch_all(&mut *db)
    .await?;
    let answered = sqlx::query!(
        "UPDATE claims SET player = NULL WHERE run_id = $1 AND first_position = ANY($2) AND player = $3 AND EXISTS (
             SELECT FROM tasks JOIN requests ON task_id = tasks.id
             WHERE tasks.run_id = $1 AND position = first_position AND NOT superseded AND answer IS NOT NULL)",
        run,
        claims,
        player
    );
    let answered = answered.execute(&mut *db).await?.rows_affected();
    let parked = sqlx::query!(
        "DELETE FROM claims WHERE run_id = $1 AND first_position = ANY($2) AND player = $3",
        run,
        claims,
        player
    );
    parked.execute(db).await?;
    Ok(answered > 0)
}

/// Leaves a claim to whoever comes next.
pub async fn release(db: &mut PgConnection, player: i64, claim: &Claim) -> Result<()> {
    sqlx::query!(
        "UPDATE claims SET player = NULL WHERE run_id = $1 AND first_position = $2 AND player = $3",
        claim.run_id,
        claim.first_position,
        player
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Pauses a run that the player cannot play, unless somebody else plays it. True if it was paused.
pub async fn pause_unless_played(db: &mut PgConnection, player: i64, run: Uuid, because: &str) -> Result<bool> {
    let mut tx = db.begin().await?;
    let paused = sqlx::query!(
        "UPDATE runs SET state = 'paused', paused_because = $3 WHERE id = $1 AND state = 'running' AND finished_at IS NULL
             AND NOT EXISTS (SELECT FROM claims WHERE run_id = $1 AND player <> $2)",
        run,
        player,
        because
    );
    let paused = paused.execute(&mut *tx).await?.rows_affected() > 0;
    if paused {
        super::control::notify_players(&mut tx, run).await?;
    }
    tx.commit().await?;
    Ok(paused)
}
