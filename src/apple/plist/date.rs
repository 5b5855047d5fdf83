//! Dates: seconds since 2001-01-01T00:00:00Z, as ISO 8601 has them.

/// From 1970 to 2001.
const EPOCH: i64 = 978_307_200;
const DAY: i64 = 86_400;

/// A date in years 1 to 9999, with as many digits of the second as the number
/// has; `None` for others.
pub(super) fn format(seconds: f64) -> Option<String> {
    // 9999-12-31 is 2.5e11 seconds away.
    if !seconds.is_finite() || seconds.abs() > 3e11 {
        return None;
    }
    let whole = seconds.floor();
    let fraction = fraction_digits(seconds, whole);
    let total = whole as i64 + EPOCH;
    let (days, rest) = (total.div_euclid(DAY), total.rem_euclid(DAY));
    let (year, month, day) = civil(days);
    if !(1..=9999).contains(&year) {
        return None;
    }
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z"
    ))
}

/// `.25`, or nothing. The number's shortest decimal digits are those of the
/// fraction for positive numbers; below zero they count back from the second
/// before, exactly.
fn fraction_digits(seconds: f64, whole: f64) -> String {
    if seconds == whole {
        return String::new();
    }
    let shown = format!("{}", seconds.abs());
    let Some((_, digits)) = shown.split_once('.') else {
        return String::new();
    };
    if seconds > 0.0 {
        return format!(".{digits}");
    }
    // 1 - 0.digits, digit by digit.
    let mut complement: Vec<u8> = digits.bytes().map(|digit| b'9' - digit + b'0').collect();
    for digit in complement.iter_mut().rev() {
        if *digit == b'9' {
            *digit = b'0';
        } else {
            *digit += 1;
            break;
        }
    }
    while complement.last() == Some(&b'0') {
        complement.pop();
    }
    format!(".{}", String::from_utf8_lossy(&complement))
}

/// Days since 1970-01-01 as year, month and day of the Gregorian calendar
/// (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Days since 1970-01-01; the inverse of [`civil`].
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// `2020-02-30T12:00:00Z` is refused; whole seconds only, as XML property
/// lists have them.
pub(super) fn parse(text: &str) -> Option<f64> {
    let text = text.strip_suffix('Z')?;
    let (date, time) = text.split_once('T')?;
    let (sign, date) = match date.strip_prefix('-') {
        Some(date) => (-1, date),
        None => (1, date),
    };
    let mut parts = date.split('-');
    let (year, month, day) = (
        number(parts.next()?, 9)?,
        two(parts.next())?,
        two(parts.next())?,
    );
    let mut clock = time.split(':');
    let (hour, minute, second) = (two(clock.next())?, two(clock.next())?, two(clock.next())?);
    let ends = parts.next().is_none() && clock.next().is_none();
    let year = sign * year;
    let in_range = (1..=12).contains(&month) && hour < 24 && minute < 60 && second < 60;
    if !ends || !in_range {
        return None;
    }
    let at = days(year, month, day);
    let exists = civil(at) == (year, month, day);
    let total = at * DAY + hour * 3600 + minute * 60 + second - EPOCH;
    exists.then_some(total as f64)
}

fn two(text: Option<&str>) -> Option<i64> {
    number(text?, 2)
}

fn number(text: &str, most: usize) -> Option<i64> {
    let digits = !text.is_empty() && text.len() <= most && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from Python: (datetime(...) - datetime(2001, 1, 1)).total_seconds().
    #[test]
    fn dates_and_back() {
        for (seconds, text) in [
            (0.0, "2001-01-01T00:00:00Z"),
            (-978_307_200.0, "1970-01-01T00:00:00Z"),
            (604_454_400.0, "2020-02-27T00:00:00Z"),
            (604_713_599.0, "2020-02-29T23:59:59Z"),
            (-63_113_904_000.0, "0001-01-01T00:00:00Z"),
            (252_423_993_599.0, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(format(seconds).as_deref(), Some(text));
            assert_eq!(parse(text), Some(seconds));
        }
        assert_eq!(format(0.25).as_deref(), Some("2001-01-01T00:00:00.25Z"));
        assert_eq!(format(-0.25).as_deref(), Some("2000-12-31T23:59:59.75Z"));
        assert_eq!(format(252_423_993_600.0), None);
        assert_eq!(format(f64::NAN), None);
        for wrong in [
            "2020-02-30T00:00:00Z",
            "2020-02-03",
            "2020-02-03T24:00:00Z",
            "x",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
