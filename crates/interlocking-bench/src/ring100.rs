//! A graph of a hundred nodes in a ring, and the same as a hand-written `match`.
//!
//! Written by `ring::source(100)`; do not edit. To write it again:
//! `cargo run -p interlocking-bench --bin ring > crates/interlocking-bench/src/ring100.rs`.

use crate::Ball;
use crate::services_loop::State;
use interlocking::net::Net;
use interlocking::prelude::*;

/// Handler of every node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pass;

/// A ring of nodes, each of which hits the ball and passes it on.
#[derive(Default, Graph)]
#[graph(output = Ball)]
pub struct Ring {
    #[node(entry, input = Ball, goto(n1, exit), visits = unbounded)]
    n0: LogicNode<Pass>,
    #[node(input = Ball, goto(n2, exit), visits = unbounded)]
    n1: LogicNode<Pass>,
    #[node(input = Ball, goto(n3, exit), visits = unbounded)]
    n2: LogicNode<Pass>,
    #[node(input = Ball, goto(n4, exit), visits = unbounded)]
    n3: LogicNode<Pass>,
    #[node(input = Ball, goto(n5, exit), visits = unbounded)]
    n4: LogicNode<Pass>,
    #[node(input = Ball, goto(n6, exit), visits = unbounded)]
    n5: LogicNode<Pass>,
    #[node(input = Ball, goto(n7, exit), visits = unbounded)]
    n6: LogicNode<Pass>,
    #[node(input = Ball, goto(n8, exit), visits = unbounded)]
    n7: LogicNode<Pass>,
    #[node(input = Ball, goto(n9, exit), visits = unbounded)]
    n8: LogicNode<Pass>,
    #[node(input = Ball, goto(n10, exit), visits = unbounded)]
    n9: LogicNode<Pass>,
    #[node(input = Ball, goto(n11, exit), visits = unbounded)]
    n10: LogicNode<Pass>,
    #[node(input = Ball, goto(n12, exit), visits = unbounded)]
    n11: LogicNode<Pass>,
    #[node(input = Ball, goto(n13, exit), visits = unbounded)]
    n12: LogicNode<Pass>,
    #[node(input = Ball, goto(n14, exit), visits = unbounded)]
    n13: LogicNode<Pass>,
    #[node(input = Ball, goto(n15, exit), visits = unbounded)]
    n14: LogicNode<Pass>,
    #[node(input = Ball, goto(n16, exit), visits = unbounded)]
    n15: LogicNode<Pass>,
    #[node(input = Ball, goto(n17, exit), visits = unbounded)]
    n16: LogicNode<Pass>,
    #[node(input = Ball, goto(n18, exit), visits = unbounded)]
    n17: LogicNode<Pass>,
    #[node(input = Ball, goto(n19, exit), visits = unbounded)]
    n18: LogicNode<Pass>,
    #[node(input = Ball, goto(n20, exit), visits = unbounded)]
    n19: LogicNode<Pass>,
    #[node(input = Ball, goto(n21, exit), visits = unbounded)]
    n20: LogicNode<Pass>,
    #[node(input = Ball, goto(n22, exit), visits = unbounded)]
    n21: LogicNode<Pass>,
    #[node(input = Ball, goto(n23, exit), visits = unbounded)]
    n22: LogicNode<Pass>,
    #[node(input = Ball, goto(n24, exit), visits = unbounded)]
    n23: LogicNode<Pass>,
    #[node(input = Ball, goto(n25, exit), visits = unbounded)]
    n24: LogicNode<Pass>,
    #[node(input = Ball, goto(n26, exit), visits = unbounded)]
    n25: LogicNode<Pass>,
    #[node(input = Ball, goto(n27, exit), visits = unbounded)]
    n26: LogicNode<Pass>,
    #[node(input = Ball, goto(n28, exit), visits = unbounded)]
    n27: LogicNode<Pass>,
    #[node(input = Ball, goto(n29, exit), visits = unbounded)]
    n28: LogicNode<Pass>,
    #[node(input = Ball, goto(n30, exit), visits = unbounded)]
    n29: LogicNode<Pass>,
    #[node(input = Ball, goto(n31, exit), visits = unbounded)]
    n30: LogicNode<Pass>,
    #[node(input = Ball, goto(n32, exit), visits = unbounded)]
    n31: LogicNode<Pass>,
    #[node(input = Ball, goto(n33, exit), visits = unbounded)]
    n32: LogicNode<Pass>,
    #[node(input = Ball, goto(n34, exit), visits = unbounded)]
    n33: LogicNode<Pass>,
    #[node(input = Ball, goto(n35, exit), visits = unbounded)]
    n34: LogicNode<Pass>,
    #[node(input = Ball, goto(n36, exit), visits = unbounded)]
    n35: LogicNode<Pass>,
    #[node(input = Ball, goto(n37, exit), visits = unbounded)]
    n36: LogicNode<Pass>,
    #[node(input = Ball, goto(n38, exit), visits = unbounded)]
    n37: LogicNode<Pass>,
    #[node(input = Ball, goto(n39, exit), visits = unbounded)]
    n38: LogicNode<Pass>,
    #[node(input = Ball, goto(n40, exit), visits = unbounded)]
    n39: LogicNode<Pass>,
    #[node(input = Ball, goto(n41, exit), visits = unbounded)]
    n40: LogicNode<Pass>,
    #[node(input = Ball, goto(n42, exit), visits = unbounded)]
    n41: LogicNode<Pass>,
    #[node(input = Ball, goto(n43, exit), visits = unbounded)]
    n42: LogicNode<Pass>,
    #[node(input = Ball, goto(n44, exit), visits = unbounded)]
    n43: LogicNode<Pass>,
    #[node(input = Ball, goto(n45, exit), visits = unbounded)]
    n44: LogicNode<Pass>,
    #[node(input = Ball, goto(n46, exit), visits = unbounded)]
    n45: LogicNode<Pass>,
    #[node(input = Ball, goto(n47, exit), visits = unbounded)]
    n46: LogicNode<Pass>,
    #[node(input = Ball, goto(n48, exit), visits = unbounded)]
    n47: LogicNode<Pass>,
    #[node(input = Ball, goto(n49, exit), visits = unbounded)]
    n48: LogicNode<Pass>,
    #[node(input = Ball, goto(n50, exit), visits = unbounded)]
    n49: LogicNode<Pass>,
    #[node(input = Ball, goto(n51, exit), visits = unbounded)]
    n50: LogicNode<Pass>,
    #[node(input = Ball, goto(n52, exit), visits = unbounded)]
    n51: LogicNode<Pass>,
    #[node(input = Ball, goto(n53, exit), visits = unbounded)]
    n52: LogicNode<Pass>,
    #[node(input = Ball, goto(n54, exit), visits = unbounded)]
    n53: LogicNode<Pass>,
    #[node(input = Ball, goto(n55, exit), visits = unbounded)]
    n54: LogicNode<Pass>,
    #[node(input = Ball, goto(n56, exit), visits = unbounded)]
    n55: LogicNode<Pass>,
    #[node(input = Ball, goto(n57, exit), visits = unbounded)]
    n56: LogicNode<Pass>,
    #[node(input = Ball, goto(n58, exit), visits = unbounded)]
    n57: LogicNode<Pass>,
    #[node(input = Ball, goto(n59, exit), visits = unbounded)]
    n58: LogicNode<Pass>,
    #[node(input = Ball, goto(n60, exit), visits = unbounded)]
    n59: LogicNode<Pass>,
    #[node(input = Ball, goto(n61, exit), visits = unbounded)]
    n60: LogicNode<Pass>,
    #[node(input = Ball, goto(n62, exit), visits = unbounded)]
    n61: LogicNode<Pass>,
    #[node(input = Ball, goto(n63, exit), visits = unbounded)]
    n62: LogicNode<Pass>,
    #[node(input = Ball, goto(n64, exit), visits = unbounded)]
    n63: LogicNode<Pass>,
    #[node(input = Ball, goto(n65, exit), visits = unbounded)]
    n64: LogicNode<Pass>,
    #[node(input = Ball, goto(n66, exit), visits = unbounded)]
    n65: LogicNode<Pass>,
    #[node(input = Ball, goto(n67, exit), visits = unbounded)]
    n66: LogicNode<Pass>,
    #[node(input = Ball, goto(n68, exit), visits = unbounded)]
    n67: LogicNode<Pass>,
    #[node(input = Ball, goto(n69, exit), visits = unbounded)]
    n68: LogicNode<Pass>,
    #[node(input = Ball, goto(n70, exit), visits = unbounded)]
    n69: LogicNode<Pass>,
    #[node(input = Ball, goto(n71, exit), visits = unbounded)]
    n70: LogicNode<Pass>,
    #[node(input = Ball, goto(n72, exit), visits = unbounded)]
    n71: LogicNode<Pass>,
    #[node(input = Ball, goto(n73, exit), visits = unbounded)]
    n72: LogicNode<Pass>,
    #[node(input = Ball, goto(n74, exit), visits = unbounded)]
    n73: LogicNode<Pass>,
    #[node(input = Ball, goto(n75, exit), visits = unbounded)]
    n74: LogicNode<Pass>,
    #[node(input = Ball, goto(n76, exit), visits = unbounded)]
    n75: LogicNode<Pass>,
    #[node(input = Ball, goto(n77, exit), visits = unbounded)]
    n76: LogicNode<Pass>,
    #[node(input = Ball, goto(n78, exit), visits = unbounded)]
    n77: LogicNode<Pass>,
    #[node(input = Ball, goto(n79, exit), visits = unbounded)]
    n78: LogicNode<Pass>,
    #[node(input = Ball, goto(n80, exit), visits = unbounded)]
    n79: LogicNode<Pass>,
    #[node(input = Ball, goto(n81, exit), visits = unbounded)]
    n80: LogicNode<Pass>,
    #[node(input = Ball, goto(n82, exit), visits = unbounded)]
    n81: LogicNode<Pass>,
    #[node(input = Ball, goto(n83, exit), visits = unbounded)]
    n82: LogicNode<Pass>,
    #[node(input = Ball, goto(n84, exit), visits = unbounded)]
    n83: LogicNode<Pass>,
    #[node(input = Ball, goto(n85, exit), visits = unbounded)]
    n84: LogicNode<Pass>,
    #[node(input = Ball, goto(n86, exit), visits = unbounded)]
    n85: LogicNode<Pass>,
    #[node(input = Ball, goto(n87, exit), visits = unbounded)]
    n86: LogicNode<Pass>,
    #[node(input = Ball, goto(n88, exit), visits = unbounded)]
    n87: LogicNode<Pass>,
    #[node(input = Ball, goto(n89, exit), visits = unbounded)]
    n88: LogicNode<Pass>,
    #[node(input = Ball, goto(n90, exit), visits = unbounded)]
    n89: LogicNode<Pass>,
    #[node(input = Ball, goto(n91, exit), visits = unbounded)]
    n90: LogicNode<Pass>,
    #[node(input = Ball, goto(n92, exit), visits = unbounded)]
    n91: LogicNode<Pass>,
    #[node(input = Ball, goto(n93, exit), visits = unbounded)]
    n92: LogicNode<Pass>,
    #[node(input = Ball, goto(n94, exit), visits = unbounded)]
    n93: LogicNode<Pass>,
    #[node(input = Ball, goto(n95, exit), visits = unbounded)]
    n94: LogicNode<Pass>,
    #[node(input = Ball, goto(n96, exit), visits = unbounded)]
    n95: LogicNode<Pass>,
    #[node(input = Ball, goto(n97, exit), visits = unbounded)]
    n96: LogicNode<Pass>,
    #[node(input = Ball, goto(n98, exit), visits = unbounded)]
    n97: LogicNode<Pass>,
    #[node(input = Ball, goto(n99, exit), visits = unbounded)]
    n98: LogicNode<Pass>,
    #[node(input = Ball, goto(n0, exit), visits = unbounded)]
    n99: LogicNode<Pass>,
}

macro_rules! handlers { ($($node:ident => $next:ident),*) => { $(
    impl LogicHandler<ring::$node> for Pass {
        async fn run(&self, mut ball: Ball, cx: &mut Cx<'_, ring::$node>) -> Route<ring::$node> {
            ball.hits += 1;
            if ball.hits >= ball.limit {
                goto!(cx, ring::exit, ball)
            } else {
                goto!(cx, ring::$next, ball)
            }
        }
    }
)* } }

handlers! {
    n0 => n1,
    n1 => n2,
    n2 => n3,
    n3 => n4,
    n4 => n5,
    n5 => n6,
    n6 => n7,
    n7 => n8,
    n8 => n9,
    n9 => n10,
    n10 => n11,
    n11 => n12,
    n12 => n13,
    n13 => n14,
    n14 => n15,
    n15 => n16,
    n16 => n17,
    n17 => n18,
    n18 => n19,
    n19 => n20,
    n20 => n21,
    n21 => n22,
    n22 => n23,
    n23 => n24,
    n24 => n25,
    n25 => n26,
    n26 => n27,
    n27 => n28,
    n28 => n29,
    n29 => n30,
    n30 => n31,
    n31 => n32,
    n32 => n33,
    n33 => n34,
    n34 => n35,
    n35 => n36,
    n36 => n37,
    n37 => n38,
    n38 => n39,
    n39 => n40,
    n40 => n41,
    n41 => n42,
    n42 => n43,
    n43 => n44,
    n44 => n45,
    n45 => n46,
    n46 => n47,
    n47 => n48,
    n48 => n49,
    n49 => n50,
    n50 => n51,
    n51 => n52,
    n52 => n53,
    n53 => n54,
    n54 => n55,
    n55 => n56,
    n56 => n57,
    n57 => n58,
    n58 => n59,
    n59 => n60,
    n60 => n61,
    n61 => n62,
    n62 => n63,
    n63 => n64,
    n64 => n65,
    n65 => n66,
    n66 => n67,
    n67 => n68,
    n68 => n69,
    n69 => n70,
    n70 => n71,
    n71 => n72,
    n72 => n73,
    n73 => n74,
    n74 => n75,
    n75 => n76,
    n76 => n77,
    n77 => n78,
    n78 => n79,
    n79 => n80,
    n80 => n81,
    n81 => n82,
    n82 => n83,
    n83 => n84,
    n84 => n85,
    n85 => n86,
    n86 => n87,
    n87 => n88,
    n88 => n89,
    n89 => n90,
    n90 => n91,
    n91 => n92,
    n92 => n93,
    n93 => n94,
    n94 => n95,
    n95 => n96,
    n96 => n97,
    n97 => n98,
    n98 => n99,
    n99 => n0
}

/// The same ring by hand.
pub enum Ring100 {
    /// State 0.
    N0(Ball),
    /// State 1.
    N1(Ball),
    /// State 2.
    N2(Ball),
    /// State 3.
    N3(Ball),
    /// State 4.
    N4(Ball),
    /// State 5.
    N5(Ball),
    /// State 6.
    N6(Ball),
    /// State 7.
    N7(Ball),
    /// State 8.
    N8(Ball),
    /// State 9.
    N9(Ball),
    /// State 10.
    N10(Ball),
    /// State 11.
    N11(Ball),
    /// State 12.
    N12(Ball),
    /// State 13.
    N13(Ball),
    /// State 14.
    N14(Ball),
    /// State 15.
    N15(Ball),
    /// State 16.
    N16(Ball),
    /// State 17.
    N17(Ball),
    /// State 18.
    N18(Ball),
    /// State 19.
    N19(Ball),
    /// State 20.
    N20(Ball),
    /// State 21.
    N21(Ball),
    /// State 22.
    N22(Ball),
    /// State 23.
    N23(Ball),
    /// State 24.
    N24(Ball),
    /// State 25.
    N25(Ball),
    /// State 26.
    N26(Ball),
    /// State 27.
    N27(Ball),
    /// State 28.
    N28(Ball),
    /// State 29.
    N29(Ball),
    /// State 30.
    N30(Ball),
    /// State 31.
    N31(Ball),
    /// State 32.
    N32(Ball),
    /// State 33.
    N33(Ball),
    /// State 34.
    N34(Ball),
    /// State 35.
    N35(Ball),
    /// State 36.
    N36(Ball),
    /// State 37.
    N37(Ball),
    /// State 38.
    N38(Ball),
    /// State 39.
    N39(Ball),
    /// State 40.
    N40(Ball),
    /// State 41.
    N41(Ball),
    /// State 42.
    N42(Ball),
    /// State 43.
    N43(Ball),
    /// State 44.
    N44(Ball),
    /// State 45.
    N45(Ball),
    /// State 46.
    N46(Ball),
    /// State 47.
    N47(Ball),
    /// State 48.
    N48(Ball),
    /// State 49.
    N49(Ball),
    /// State 50.
    N50(Ball),
    /// State 51.
    N51(Ball),
    /// State 52.
    N52(Ball),
    /// State 53.
    N53(Ball),
    /// State 54.
    N54(Ball),
    /// State 55.
    N55(Ball),
    /// State 56.
    N56(Ball),
    /// State 57.
    N57(Ball),
    /// State 58.
    N58(Ball),
    /// State 59.
    N59(Ball),
    /// State 60.
    N60(Ball),
    /// State 61.
    N61(Ball),
    /// State 62.
    N62(Ball),
    /// State 63.
    N63(Ball),
    /// State 64.
    N64(Ball),
    /// State 65.
    N65(Ball),
    /// State 66.
    N66(Ball),
    /// State 67.
    N67(Ball),
    /// State 68.
    N68(Ball),
    /// State 69.
    N69(Ball),
    /// State 70.
    N70(Ball),
    /// State 71.
    N71(Ball),
    /// State 72.
    N72(Ball),
    /// State 73.
    N73(Ball),
    /// State 74.
    N74(Ball),
    /// State 75.
    N75(Ball),
    /// State 76.
    N76(Ball),
    /// State 77.
    N77(Ball),
    /// State 78.
    N78(Ball),
    /// State 79.
    N79(Ball),
    /// State 80.
    N80(Ball),
    /// State 81.
    N81(Ball),
    /// State 82.
    N82(Ball),
    /// State 83.
    N83(Ball),
    /// State 84.
    N84(Ball),
    /// State 85.
    N85(Ball),
    /// State 86.
    N86(Ball),
    /// State 87.
    N87(Ball),
    /// State 88.
    N88(Ball),
    /// State 89.
    N89(Ball),
    /// State 90.
    N90(Ball),
    /// State 91.
    N91(Ball),
    /// State 92.
    N92(Ball),
    /// State 93.
    N93(Ball),
    /// State 94.
    N94(Ball),
    /// State 95.
    N95(Ball),
    /// State 96.
    N96(Ball),
    /// State 97.
    N97(Ball),
    /// State 98.
    N98(Ball),
    /// State 99.
    N99(Ball),
    /// The end.
    Exit(Ball),
}

macro_rules! states { ($($state:ident $node:ident => $next:ident),*) => { $(
    async fn $node(mut ball: Ball) -> Ring100 {
        ball.hits += 1;
        if ball.hits >= ball.limit { Ring100::Exit(ball) } else { Ring100::$next(ball) }
    }
)* } }

states! {
    N0 n0 => N1,
    N1 n1 => N2,
    N2 n2 => N3,
    N3 n3 => N4,
    N4 n4 => N5,
    N5 n5 => N6,
    N6 n6 => N7,
    N7 n7 => N8,
    N8 n8 => N9,
    N9 n9 => N10,
    N10 n10 => N11,
    N11 n11 => N12,
    N12 n12 => N13,
    N13 n13 => N14,
    N14 n14 => N15,
    N15 n15 => N16,
    N16 n16 => N17,
    N17 n17 => N18,
    N18 n18 => N19,
    N19 n19 => N20,
    N20 n20 => N21,
    N21 n21 => N22,
    N22 n22 => N23,
    N23 n23 => N24,
    N24 n24 => N25,
    N25 n25 => N26,
    N26 n26 => N27,
    N27 n27 => N28,
    N28 n28 => N29,
    N29 n29 => N30,
    N30 n30 => N31,
    N31 n31 => N32,
    N32 n32 => N33,
    N33 n33 => N34,
    N34 n34 => N35,
    N35 n35 => N36,
    N36 n36 => N37,
    N37 n37 => N38,
    N38 n38 => N39,
    N39 n39 => N40,
    N40 n40 => N41,
    N41 n41 => N42,
    N42 n42 => N43,
    N43 n43 => N44,
    N44 n44 => N45,
    N45 n45 => N46,
    N46 n46 => N47,
    N47 n47 => N48,
    N48 n48 => N49,
    N49 n49 => N50,
    N50 n50 => N51,
    N51 n51 => N52,
    N52 n52 => N53,
    N53 n53 => N54,
    N54 n54 => N55,
    N55 n55 => N56,
    N56 n56 => N57,
    N57 n57 => N58,
    N58 n58 => N59,
    N59 n59 => N60,
    N60 n60 => N61,
    N61 n61 => N62,
    N62 n62 => N63,
    N63 n63 => N64,
    N64 n64 => N65,
    N65 n65 => N66,
    N66 n66 => N67,
    N67 n67 => N68,
    N68 n68 => N69,
    N69 n69 => N70,
    N70 n70 => N71,
    N71 n71 => N72,
    N72 n72 => N73,
    N73 n73 => N74,
    N74 n74 => N75,
    N75 n75 => N76,
    N76 n76 => N77,
    N77 n77 => N78,
    N78 n78 => N79,
    N79 n79 => N80,
    N80 n80 => N81,
    N81 n81 => N82,
    N82 n82 => N83,
    N83 n83 => N84,
    N84 n84 => N85,
    N85 n85 => N86,
    N86 n86 => N87,
    N87 n87 => N88,
    N88 n88 => N89,
    N89 n89 => N90,
    N90 n90 => N91,
    N91 n91 => N92,
    N92 n92 => N93,
    N93 n93 => N94,
    N94 n94 => N95,
    N95 n95 => N96,
    N96 n96 => N97,
    N97 n97 => N98,
    N98 n98 => N99,
    N99 n99 => N0
}

impl State for Ring100 {
    const STATES: usize = 100;

    fn start(ball: Ball) -> Self {
        Self::N0(ball)
    }

    fn net() -> &'static Net {
        Ring::net()
    }

    fn place(&self) -> Option<u16> {
        match self {
            Self::N0(_) => Some(0),
            Self::N1(_) => Some(1),
            Self::N2(_) => Some(2),
            Self::N3(_) => Some(3),
            Self::N4(_) => Some(4),
            Self::N5(_) => Some(5),
            Self::N6(_) => Some(6),
            Self::N7(_) => Some(7),
            Self::N8(_) => Some(8),
            Self::N9(_) => Some(9),
            Self::N10(_) => Some(10),
            Self::N11(_) => Some(11),
            Self::N12(_) => Some(12),
            Self::N13(_) => Some(13),
            Self::N14(_) => Some(14),
            Self::N15(_) => Some(15),
            Self::N16(_) => Some(16),
            Self::N17(_) => Some(17),
            Self::N18(_) => Some(18),
            Self::N19(_) => Some(19),
            Self::N20(_) => Some(20),
            Self::N21(_) => Some(21),
            Self::N22(_) => Some(22),
            Self::N23(_) => Some(23),
            Self::N24(_) => Some(24),
            Self::N25(_) => Some(25),
            Self::N26(_) => Some(26),
            Self::N27(_) => Some(27),
            Self::N28(_) => Some(28),
            Self::N29(_) => Some(29),
            Self::N30(_) => Some(30),
            Self::N31(_) => Some(31),
            Self::N32(_) => Some(32),
            Self::N33(_) => Some(33),
            Self::N34(_) => Some(34),
            Self::N35(_) => Some(35),
            Self::N36(_) => Some(36),
            Self::N37(_) => Some(37),
            Self::N38(_) => Some(38),
            Self::N39(_) => Some(39),
            Self::N40(_) => Some(40),
            Self::N41(_) => Some(41),
            Self::N42(_) => Some(42),
            Self::N43(_) => Some(43),
            Self::N44(_) => Some(44),
            Self::N45(_) => Some(45),
            Self::N46(_) => Some(46),
            Self::N47(_) => Some(47),
            Self::N48(_) => Some(48),
            Self::N49(_) => Some(49),
            Self::N50(_) => Some(50),
            Self::N51(_) => Some(51),
            Self::N52(_) => Some(52),
            Self::N53(_) => Some(53),
            Self::N54(_) => Some(54),
            Self::N55(_) => Some(55),
            Self::N56(_) => Some(56),
            Self::N57(_) => Some(57),
            Self::N58(_) => Some(58),
            Self::N59(_) => Some(59),
            Self::N60(_) => Some(60),
            Self::N61(_) => Some(61),
            Self::N62(_) => Some(62),
            Self::N63(_) => Some(63),
            Self::N64(_) => Some(64),
            Self::N65(_) => Some(65),
            Self::N66(_) => Some(66),
            Self::N67(_) => Some(67),
            Self::N68(_) => Some(68),
            Self::N69(_) => Some(69),
            Self::N70(_) => Some(70),
            Self::N71(_) => Some(71),
            Self::N72(_) => Some(72),
            Self::N73(_) => Some(73),
            Self::N74(_) => Some(74),
            Self::N75(_) => Some(75),
            Self::N76(_) => Some(76),
            Self::N77(_) => Some(77),
            Self::N78(_) => Some(78),
            Self::N79(_) => Some(79),
            Self::N80(_) => Some(80),
            Self::N81(_) => Some(81),
            Self::N82(_) => Some(82),
            Self::N83(_) => Some(83),
            Self::N84(_) => Some(84),
            Self::N85(_) => Some(85),
            Self::N86(_) => Some(86),
            Self::N87(_) => Some(87),
            Self::N88(_) => Some(88),
            Self::N89(_) => Some(89),
            Self::N90(_) => Some(90),
            Self::N91(_) => Some(91),
            Self::N92(_) => Some(92),
            Self::N93(_) => Some(93),
            Self::N94(_) => Some(94),
            Self::N95(_) => Some(95),
            Self::N96(_) => Some(96),
            Self::N97(_) => Some(97),
            Self::N98(_) => Some(98),
            Self::N99(_) => Some(99),
            Self::Exit(_) => None,
        }
    }

    fn end(self) -> Option<Ball> {
        if let Self::Exit(ball) = self { Some(ball) } else { None }
    }

    async fn step(self) -> Self {
        match self {
            Self::N0(ball) => n0(ball).await,
            Self::N1(ball) => n1(ball).await,
            Self::N2(ball) => n2(ball).await,
            Self::N3(ball) => n3(ball).await,
            Self::N4(ball) => n4(ball).await,
            Self::N5(ball) => n5(ball).await,
            Self::N6(ball) => n6(ball).await,
            Self::N7(ball) => n7(ball).await,
            Self::N8(ball) => n8(ball).await,
            Self::N9(ball) => n9(ball).await,
            Self::N10(ball) => n10(ball).await,
            Self::N11(ball) => n11(ball).await,
            Self::N12(ball) => n12(ball).await,
            Self::N13(ball) => n13(ball).await,
            Self::N14(ball) => n14(ball).await,
            Self::N15(ball) => n15(ball).await,
            Self::N16(ball) => n16(ball).await,
            Self::N17(ball) => n17(ball).await,
            Self::N18(ball) => n18(ball).await,
            Self::N19(ball) => n19(ball).await,
            Self::N20(ball) => n20(ball).await,
            Self::N21(ball) => n21(ball).await,
            Self::N22(ball) => n22(ball).await,
            Self::N23(ball) => n23(ball).await,
            Self::N24(ball) => n24(ball).await,
            Self::N25(ball) => n25(ball).await,
            Self::N26(ball) => n26(ball).await,
            Self::N27(ball) => n27(ball).await,
            Self::N28(ball) => n28(ball).await,
            Self::N29(ball) => n29(ball).await,
            Self::N30(ball) => n30(ball).await,
            Self::N31(ball) => n31(ball).await,
            Self::N32(ball) => n32(ball).await,
            Self::N33(ball) => n33(ball).await,
            Self::N34(ball) => n34(ball).await,
            Self::N35(ball) => n35(ball).await,
            Self::N36(ball) => n36(ball).await,
            Self::N37(ball) => n37(ball).await,
            Self::N38(ball) => n38(ball).await,
            Self::N39(ball) => n39(ball).await,
            Self::N40(ball) => n40(ball).await,
            Self::N41(ball) => n41(ball).await,
            Self::N42(ball) => n42(ball).await,
            Self::N43(ball) => n43(ball).await,
            Self::N44(ball) => n44(ball).await,
            Self::N45(ball) => n45(ball).await,
            Self::N46(ball) => n46(ball).await,
            Self::N47(ball) => n47(ball).await,
            Self::N48(ball) => n48(ball).await,
            Self::N49(ball) => n49(ball).await,
            Self::N50(ball) => n50(ball).await,
            Self::N51(ball) => n51(ball).await,
            Self::N52(ball) => n52(ball).await,
            Self::N53(ball) => n53(ball).await,
            Self::N54(ball) => n54(ball).await,
            Self::N55(ball) => n55(ball).await,
            Self::N56(ball) => n56(ball).await,
            Self::N57(ball) => n57(ball).await,
            Self::N58(ball) => n58(ball).await,
            Self::N59(ball) => n59(ball).await,
            Self::N60(ball) => n60(ball).await,
            Self::N61(ball) => n61(ball).await,
            Self::N62(ball) => n62(ball).await,
            Self::N63(ball) => n63(ball).await,
            Self::N64(ball) => n64(ball).await,
            Self::N65(ball) => n65(ball).await,
            Self::N66(ball) => n66(ball).await,
            Self::N67(ball) => n67(ball).await,
            Self::N68(ball) => n68(ball).await,
            Self::N69(ball) => n69(ball).await,
            Self::N70(ball) => n70(ball).await,
            Self::N71(ball) => n71(ball).await,
            Self::N72(ball) => n72(ball).await,
            Self::N73(ball) => n73(ball).await,
            Self::N74(ball) => n74(ball).await,
            Self::N75(ball) => n75(ball).await,
            Self::N76(ball) => n76(ball).await,
            Self::N77(ball) => n77(ball).await,
            Self::N78(ball) => n78(ball).await,
            Self::N79(ball) => n79(ball).await,
            Self::N80(ball) => n80(ball).await,
            Self::N81(ball) => n81(ball).await,
            Self::N82(ball) => n82(ball).await,
            Self::N83(ball) => n83(ball).await,
            Self::N84(ball) => n84(ball).await,
            Self::N85(ball) => n85(ball).await,
            Self::N86(ball) => n86(ball).await,
            Self::N87(ball) => n87(ball).await,
            Self::N88(ball) => n88(ball).await,
            Self::N89(ball) => n89(ball).await,
            Self::N90(ball) => n90(ball).await,
            Self::N91(ball) => n91(ball).await,
            Self::N92(ball) => n92(ball).await,
            Self::N93(ball) => n93(ball).await,
            Self::N94(ball) => n94(ball).await,
            Self::N95(ball) => n95(ball).await,
            Self::N96(ball) => n96(ball).await,
            Self::N97(ball) => n97(ball).await,
            Self::N98(ball) => n98(ball).await,
            Self::N99(ball) => n99(ball).await,
            exit @ Self::Exit(_) => exit,
        }
    }
}
