//! Sets of small integers.

use interlocking_core::bits::Bits;

#[test]
fn members_come_back_in_order() {
    let mut bits = Bits::new(130);
    assert!(bits.insert(129) && bits.insert(0) && bits.insert(64));
    assert!(!bits.insert(64), "a second insertion adds nothing");
    assert_eq!(bits.iter().collect::<Vec<_>>(), [0, 64, 129]);
    assert!(bits.remove(64) && !bits.remove(64));
    let mut other = Bits::new(130);
    other.insert(0);
    bits.subtract(&other);
    assert_eq!(bits.iter().collect::<Vec<_>>(), [129]);
    assert!(other.unite(&bits) && !other.unite(&bits), "a second union adds nothing");
    assert!(bits.is_subset(&other) && !other.is_subset(&bits) && bits.intersects(&other));
    other.intersect(&bits);
    assert_eq!(other, bits);
    bits.clear();
    assert!(bits.is_empty() && !bits.intersects(&other));
}
