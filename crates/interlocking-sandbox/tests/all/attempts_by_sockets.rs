//! Attempts by sockets, and by memory, queues and semaphores that programs share.

use crate::attempts::{
    Aim::{Act, Read},
    Attempt, BY_SANDBOX, Needs, perl, shell,
};

/// Memory, queues and semaphores of System V and POSIX.
pub(crate) const SHARING: &[Attempt] = &[
    perl(
        "read memory that the sibling's program shares",
        Read,
        r#"$m = shmget($ENV{KEY}+0, 64, 0); shmread($m, $text, 0, 64); print $text"#,
        BY_SANDBOX,
    ),
    // By its id, which can be guessed. IPC_RMID is 0.
    perl("remove memory that the sibling's program shares", Act, "done(shmctl($ENV{MEMORY}+0, 0, 0))", BY_SANDBOX),
    perl(
        "read from a queue of the sibling's program",
        Read,
        r#"msgrcv(msgget($ENV{KEY}+0, 0), $text, 64, 0, 0); print $text"#,
        BY_SANDBOX,
    ),
    perl("remove a queue of the sibling's program", Act, "done(msgctl($ENV{QUEUE}+0, 0, 0))", BY_SANDBOX),
    // SETVAL is 16.
    perl("set a semaphore of the sibling's program", Act, "done(semctl($ENV{SEMAPHORE}+0, 0, 16, 7))", BY_SANDBOX),
    perl(
        "raise a semaphore of the sibling's program",
        Act,
        r#"done(semop($ENV{SEMAPHORE}+0, pack("s3", 0, 1, 0)))"#,
        BY_SANDBOX,
    ),
    perl(
        "read from a POSIX queue of the sibling's program",
        Read,
        r#"$q = call("mq_open", $ENV{NAME}, 0, 0, 0); $text = "\0" x 64;
        call("mq_timedreceive", $q, $text, 64, 0, 0) if $q >= 0; print $text"#,
        BY_SANDBOX,
    ),
    perl(
        "remove a POSIX queue of the sibling's program",
        Act,
        r#"done(call("mq_unlink", $ENV{NAME}) == 0)"#,
        BY_SANDBOX,
    ),
    shell("read POSIX shared memory of the sibling's program", Read, "cat /dev/shm/$NAME", BY_SANDBOX),
];

pub(crate) const SOCKETS: &[Attempt] = &[
    perl(
        "connect by TCP",
        Read,
        r#"require IO::Socket::INET; $s = IO::Socket::INET->new("127.0.0.1:$ENV{TCP}") or exit; print <$s>"#,
        BY_SANDBOX,
    )
    .needing(Needs::Network),
    perl(
        "ask by UDP",
        Read,
        r#"require IO::Socket::INET; $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$ENV{UDP}", Proto => "udp") or exit;
        $s->send("?"); alarm 2; $s->recv($a, 99); print $a"#,
        BY_SANDBOX,
    )
    .needing(Needs::Network),
    perl(
        "connect to an abstract unix socket",
        Read,
        r#"socket($s, AF_UNIX, SOCK_STREAM, 0) or exit;
        connect($s, pack("S a*", AF_UNIX, "\0$ENV{ABSTRACT}")) or exit; print <$s>"#,
        BY_SANDBOX,
    ),
    perl(
        "connect to a unix socket by its path",
        Read,
        r#"socket($s, AF_UNIX, SOCK_STREAM, 0) or exit; connect($s, sockaddr_un($ENV{SOCKET})) or exit; print <$s>"#,
        BY_SANDBOX,
    ),
    // Each end of a pair is a socket that can be bound to a name and then connected to another peer.
    perl(
        "ask a unix socket by its path, by an end of a pair",
        Read,
        r#"socketpair($s, $t, AF_UNIX, SOCK_DGRAM, 0) or exit; bind($s, sockaddr_un("$ENV{PWD}/own")) or exit;
        connect($s, sockaddr_un($ENV{DATAGRAM})) or exit; send($s, "?", 0); alarm 2; recv($s, $a, 99, 0); print $a"#,
        BY_SANDBOX,
    ),
    perl(
        "ask a unix socket by its path, by an end of a raw pair",
        Read,
        r#"socketpair($s, $t, AF_UNIX, SOCK_RAW, 0) or exit; bind($s, sockaddr_un("$ENV{PWD}/own")) or exit;
        connect($s, sockaddr_un($ENV{DATAGRAM})) or exit; send($s, "?", 0); alarm 2; recv($s, $a, 99, 0); print $a"#,
        BY_SANDBOX,
    ),
];
