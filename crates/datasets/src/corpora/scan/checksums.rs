//! Check digits: they tell numbers of a kind from others that look alike.

/// Payment cards (ISO/IEC 7812-1, annex B).
pub fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(i, digit)| match u32::from(*digit) * if i % 2 == 1 { 2 } else { 1 } {
            doubled @ 10.. => doubled - 9,
            other => other,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// IBANs (ISO 13616): the first four signs go to the end, letters become numbers from 10 on, and 97 leaves 1.
pub fn iban(signs: &[u8]) -> bool {
    let Some((first, rest)) = signs.split_at_checked(4) else { return false };
    rest.iter().chain(first).try_fold(0_u32, |left, sign| match sign {
        b'0'..=b'9' => Some((left * 10 + u32::from(sign - b'0')) % 97),
        b'A'..=b'Z' => Some((left * 100 + u32::from(sign - b'A') + 10) % 97),
        _ => None,
    }) == Some(1)
}

/// The letter of a Spanish DNI.
pub fn dni(number: u32, letter: u8) -> bool {
    b"TRWAGMYFPDXBNJZSQVHLCKE"[(number % 23) as usize] == letter
}

/// The key of a French social security number: 97 minus the number modulo 97.
pub fn nir(number: u64, key: u64) -> bool {
    97 - number % 97 == key
}
