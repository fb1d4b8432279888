/// Refuses a caller who asks more often than the token bucket allows.
pub fn refuse(bucket: &mut Bucket, now: u64) -> Option<Refused> {
    bucket.take(now).is_none().then(|| Refused { retry_after: bucket.next(now) })
}
