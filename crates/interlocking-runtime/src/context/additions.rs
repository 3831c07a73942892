//! Items that event nodes add to map nodes.
//!
//! A map's execution takes items from the moment it is due until it has given its handler the last of its children, or its
//! quorum is decided; then it closes. It does not close while an addition is being recorded, so that every recorded item is
//! taken.

use crate::journal::By;
use crate::mutex::Mutex;
use interlocking_core::context::NewItem;
use std::collections::HashMap;
use tokio::sync::Notify;

/// The additions of one run.
#[derive(Default)]
pub(crate) struct Additions {
    /// The inbox of each map execution.
    inboxes: Mutex<HashMap<By, Inbox>>,
    changed: Notify,
}

#[derive(Default)]
struct Inbox {
    items: Vec<NewItem>,
    /// How many of the items the map has taken.
    taken: usize,
    /// Whether an addition is being recorded.
    held: bool,
    closed: bool,
}

impl Inbox {
    fn untaken(&self) -> &[NewItem] {
        self.items.get(self.taken..).unwrap_or_default()
    }
}

impl Additions {
    /// Keeps a map open for an addition that is about to be recorded; false if it takes no more.
    pub(crate) fn hold(&self, map: &By) -> bool {
        let mut inboxes = self.inboxes.lock();
        let inbox = inboxes.entry(map.clone()).or_default();
        inbox.held = !inbox.closed;
        inbox.held
    }

    /// Adds the items after [`hold`](Self::hold): they are recorded, or there are none.
    pub(crate) fn add(&self, map: By, items: Vec<NewItem>) {
        let mut inboxes = self.inboxes.lock();
        let inbox = inboxes.entry(map).or_default();
        inbox.held = false;
        inbox.items.extend(items);
        drop(inboxes);
        self.changed.notify_waiters();
    }

    /// The items that a map has not taken; waits until there are some.
    pub(crate) async fn next(&self, map: &By) -> Vec<NewItem> {
        loop {
            // Created before the items are looked for, so that none is missed between the two.
            let notified = self.changed.notified();
            let items = self.untaken(map);
            if !items.is_empty() {
                return items;
            }
            notified.await;
        }
    }

    /// The items that a map has not taken, without waiting.
    pub(crate) fn untaken(&self, map: &By) -> Vec<NewItem> {
        self.inboxes.lock().get(map).map(|inbox| inbox.untaken().to_vec()).unwrap_or_default()
    }

    /// Whether a map has items that it is about to take.
    pub(crate) fn has_untaken(&self, map: &By) -> bool {
        self.inboxes.lock().get(map).is_some_and(|inbox| !inbox.closed && !inbox.untaken().is_empty())
    }

    /// Notes that a map has taken `items` more.
    pub(crate) fn took(&self, map: &By, items: usize) {
        self.inboxes.lock().entry(map.clone()).or_default().taken += items;
        self.changed.notify_waiters();
    }

    /// Closes a map that has taken all its items. If it has not, or an addition is being recorded, waits for any change and
    /// returns false.
    pub(crate) async fn close(&self, map: &By) -> bool {
        let notified = self.changed.notified();
        {
            let mut inboxes = self.inboxes.lock();
            let inbox = inboxes.entry(map.clone()).or_default();
            if !inbox.held && inbox.untaken().is_empty() {
                inbox.closed = true;
                return true;
            }
        }
        notified.await;
        false
    }

    /// Forgets a visit of a map that is over.
    pub(crate) fn forget(&self, node: &str, visit: u32) {
        self.inboxes.lock().retain(|map, _| map.visit != visit || map.node != node);
    }

    /// Closes a map even if it has not taken all its items, because its execution is over.
    pub(crate) fn close_now(&self, map: &By) {
        self.inboxes.lock().entry(map.clone()).or_default().closed = true;
    }
}
