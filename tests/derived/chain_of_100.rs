//! A hundred nodes hit no limit of the compiler.

use interlocking::prelude::*;

#[derive(Graph)]
#[graph(output = u64)]
struct Chain {
    #[node(entry, input = u64, goto(node1))]
    node0: LogicNode<Step>,
    #[node(input = u64, goto(node2))]
    node1: LogicNode<Step>,
    #[node(input = u64, goto(node3))]
    node2: LogicNode<Step>,
    #[node(input = u64, goto(node4))]
    node3: LogicNode<Step>,
    #[node(input = u64, goto(node5))]
    node4: LogicNode<Step>,
    #[node(input = u64, goto(node6))]
    node5: LogicNode<Step>,
    #[node(input = u64, goto(node7))]
    node6: LogicNode<Step>,
    #[node(input = u64, goto(node8))]
    node7: LogicNode<Step>,
    #[node(input = u64, goto(node9))]
    node8: LogicNode<Step>,
    #[node(input = u64, goto(node10))]
    node9: LogicNode<Step>,
    #[node(input = u64, goto(node11))]
    node10: LogicNode<Step>,
    #[node(input = u64, goto(node12))]
    node11: LogicNode<Step>,
    #[node(input = u64, goto(node13))]
    node12: LogicNode<Step>,
    #[node(input = u64, goto(node14))]
    node13: LogicNode<Step>,
    #[node(input = u64, goto(node15))]
    node14: LogicNode<Step>,
    #[node(input = u64, goto(node16))]
    node15: LogicNode<Step>,
    #[node(input = u64, goto(node17))]
    node16: LogicNode<Step>,
    #[node(input = u64, goto(node18))]
    node17: LogicNode<Step>,
    #[node(input = u64, goto(node19))]
    node18: LogicNode<Step>,
    #[node(input = u64, goto(node20))]
    node19: LogicNode<Step>,
    #[node(input = u64, goto(node21))]
    node20: LogicNode<Step>,
    #[node(input = u64, goto(node22))]
    node21: LogicNode<Step>,
    #[node(input = u64, goto(node23))]
    node22: LogicNode<Step>,
    #[node(input = u64, goto(node24))]
    node23: LogicNode<Step>,
    #[node(input = u64, goto(node25))]
    node24: LogicNode<Step>,
    #[node(input = u64, goto(node26))]
    node25: LogicNode<Step>,
    #[node(input = u64, goto(node27))]
    node26: LogicNode<Step>,
    #[node(input = u64, goto(node28))]
    node27: LogicNode<Step>,
    #[node(input = u64, goto(node29))]
    node28: LogicNode<Step>,
    #[node(input = u64, goto(node30))]
    node29: LogicNode<Step>,
    #[node(input = u64, goto(node31))]
    node30: LogicNode<Step>,
    #[node(input = u64, goto(node32))]
    node31: LogicNode<Step>,
    #[node(input = u64, goto(node33))]
    node32: LogicNode<Step>,
    #[node(input = u64, goto(node34))]
    node33: LogicNode<Step>,
    #[node(input = u64, goto(node35))]
    node34: LogicNode<Step>,
    #[node(input = u64, goto(node36))]
    node35: LogicNode<Step>,
    #[node(input = u64, goto(node37))]
    node36: LogicNode<Step>,
    #[node(input = u64, goto(node38))]
    node37: LogicNode<Step>,
    #[node(input = u64, goto(node39))]
    node38: LogicNode<Step>,
    #[node(input = u64, goto(node40))]
    node39: LogicNode<Step>,
    #[node(input = u64, goto(node41))]
    node40: LogicNode<Step>,
    #[node(input = u64, goto(node42))]
    node41: LogicNode<Step>,
    #[node(input = u64, goto(node43))]
    node42: LogicNode<Step>,
    #[node(input = u64, goto(node44))]
    node43: LogicNode<Step>,
    #[node(input = u64, goto(node45))]
    node44: LogicNode<Step>,
    #[node(input = u64, goto(node46))]
    node45: LogicNode<Step>,
    #[node(input = u64, goto(node47))]
    node46: LogicNode<Step>,
    #[node(input = u64, goto(node48))]
    node47: LogicNode<Step>,
    #[node(input = u64, goto(node49))]
    node48: LogicNode<Step>,
    #[node(input = u64, goto(node50))]
    node49: LogicNode<Step>,
    #[node(input = u64, goto(node51))]
    node50: LogicNode<Step>,
    #[node(input = u64, goto(node52))]
    node51: LogicNode<Step>,
    #[node(input = u64, goto(node53))]
    node52: LogicNode<Step>,
    #[node(input = u64, goto(node54))]
    node53: LogicNode<Step>,
    #[node(input = u64, goto(node55))]
    node54: LogicNode<Step>,
    #[node(input = u64, goto(node56))]
    node55: LogicNode<Step>,
    #[node(input = u64, goto(node57))]
    node56: LogicNode<Step>,
    #[node(input = u64, goto(node58))]
    node57: LogicNode<Step>,
    #[node(input = u64, goto(node59))]
    node58: LogicNode<Step>,
    #[node(input = u64, goto(node60))]
    node59: LogicNode<Step>,
    #[node(input = u64, goto(node61))]
    node60: LogicNode<Step>,
    #[node(input = u64, goto(node62))]
    node61: LogicNode<Step>,
    #[node(input = u64, goto(node63))]
    node62: LogicNode<Step>,
    #[node(input = u64, goto(node64))]
    node63: LogicNode<Step>,
    #[node(input = u64, goto(node65))]
    node64: LogicNode<Step>,
    #[node(input = u64, goto(node66))]
    node65: LogicNode<Step>,
    #[node(input = u64, goto(node67))]
    node66: LogicNode<Step>,
    #[node(input = u64, goto(node68))]
    node67: LogicNode<Step>,
    #[node(input = u64, goto(node69))]
    node68: LogicNode<Step>,
    #[node(input = u64, goto(node70))]
    node69: LogicNode<Step>,
    #[node(input = u64, goto(node71))]
    node70: LogicNode<Step>,
    #[node(input = u64, goto(node72))]
    node71: LogicNode<Step>,
    #[node(input = u64, goto(node73))]
    node72: LogicNode<Step>,
    #[node(input = u64, goto(node74))]
    node73: LogicNode<Step>,
    #[node(input = u64, goto(node75))]
    node74: LogicNode<Step>,
    #[node(input = u64, goto(node76))]
    node75: LogicNode<Step>,
    #[node(input = u64, goto(node77))]
    node76: LogicNode<Step>,
    #[node(input = u64, goto(node78))]
    node77: LogicNode<Step>,
    #[node(input = u64, goto(node79))]
    node78: LogicNode<Step>,
    #[node(input = u64, goto(node80))]
    node79: LogicNode<Step>,
    #[node(input = u64, goto(node81))]
    node80: LogicNode<Step>,
    #[node(input = u64, goto(node82))]
    node81: LogicNode<Step>,
    #[node(input = u64, goto(node83))]
    node82: LogicNode<Step>,
    #[node(input = u64, goto(node84))]
    node83: LogicNode<Step>,
    #[node(input = u64, goto(node85))]
    node84: LogicNode<Step>,
    #[node(input = u64, goto(node86))]
    node85: LogicNode<Step>,
    #[node(input = u64, goto(node87))]
    node86: LogicNode<Step>,
    #[node(input = u64, goto(node88))]
    node87: LogicNode<Step>,
    #[node(input = u64, goto(node89))]
    node88: LogicNode<Step>,
    #[node(input = u64, goto(node90))]
    node89: LogicNode<Step>,
    #[node(input = u64, goto(node91))]
    node90: LogicNode<Step>,
    #[node(input = u64, goto(node92))]
    node91: LogicNode<Step>,
    #[node(input = u64, goto(node93))]
    node92: LogicNode<Step>,
    #[node(input = u64, goto(node94))]
    node93: LogicNode<Step>,
    #[node(input = u64, goto(node95))]
    node94: LogicNode<Step>,
    #[node(input = u64, goto(node96))]
    node95: LogicNode<Step>,
    #[node(input = u64, goto(node97))]
    node96: LogicNode<Step>,
    #[node(input = u64, goto(node98))]
    node97: LogicNode<Step>,
    #[node(input = u64, goto(node99))]
    node98: LogicNode<Step>,
    #[node(input = u64, goto(exit))]
    node99: LogicNode<Step>,
}

held!(Chain);

#[derive(Clone, Copy)]
struct Step;

macro_rules! steps {
    ($($node:ident to $next:ident),* $(,)?) => {$(
        impl LogicHandler<chain::$node> for Step {
            async fn run(&self, value: u64, cx: &mut Cx<'_, chain::$node>) -> Route<chain::$node> {
                goto!(cx, chain::$next, value + 1)
            }
        }
    )*};
}

steps! {
    node0 to node1,
    node1 to node2,
    node2 to node3,
    node3 to node4,
    node4 to node5,
    node5 to node6,
    node6 to node7,
    node7 to node8,
    node8 to node9,
    node9 to node10,
    node10 to node11,
    node11 to node12,
    node12 to node13,
    node13 to node14,
    node14 to node15,
    node15 to node16,
    node16 to node17,
    node17 to node18,
    node18 to node19,
    node19 to node20,
    node20 to node21,
    node21 to node22,
    node22 to node23,
    node23 to node24,
    node24 to node25,
    node25 to node26,
    node26 to node27,
    node27 to node28,
    node28 to node29,
    node29 to node30,
    node30 to node31,
    node31 to node32,
    node32 to node33,
    node33 to node34,
    node34 to node35,
    node35 to node36,
    node36 to node37,
    node37 to node38,
    node38 to node39,
    node39 to node40,
    node40 to node41,
    node41 to node42,
    node42 to node43,
    node43 to node44,
    node44 to node45,
    node45 to node46,
    node46 to node47,
    node47 to node48,
    node48 to node49,
    node49 to node50,
    node50 to node51,
    node51 to node52,
    node52 to node53,
    node53 to node54,
    node54 to node55,
    node55 to node56,
    node56 to node57,
    node57 to node58,
    node58 to node59,
    node59 to node60,
    node60 to node61,
    node61 to node62,
    node62 to node63,
    node63 to node64,
    node64 to node65,
    node65 to node66,
    node66 to node67,
    node67 to node68,
    node68 to node69,
    node69 to node70,
    node70 to node71,
    node71 to node72,
    node72 to node73,
    node73 to node74,
    node74 to node75,
    node75 to node76,
    node76 to node77,
    node77 to node78,
    node78 to node79,
    node79 to node80,
    node80 to node81,
    node81 to node82,
    node82 to node83,
    node83 to node84,
    node84 to node85,
    node85 to node86,
    node86 to node87,
    node87 to node88,
    node88 to node89,
    node89 to node90,
    node90 to node91,
    node91 to node92,
    node92 to node93,
    node93 to node94,
    node94 to node95,
    node95 to node96,
    node96 to node97,
    node97 to node98,
    node98 to node99,
    node99 to exit,
}

#[tokio::test]
async fn a_chain_of_100_runs() {
    let step = LogicNode(Step);
    let graph = Chain {
        node0: step,
        node1: step,
        node2: step,
        node3: step,
        node4: step,
        node5: step,
        node6: step,
        node7: step,
        node8: step,
        node9: step,
        node10: step,
        node11: step,
        node12: step,
        node13: step,
        node14: step,
        node15: step,
        node16: step,
        node17: step,
        node18: step,
        node19: step,
        node20: step,
        node21: step,
        node22: step,
        node23: step,
        node24: step,
        node25: step,
        node26: step,
        node27: step,
        node28: step,
        node29: step,
        node30: step,
        node31: step,
        node32: step,
        node33: step,
        node34: step,
        node35: step,
        node36: step,
        node37: step,
        node38: step,
        node39: step,
        node40: step,
        node41: step,
        node42: step,
        node43: step,
        node44: step,
        node45: step,
        node46: step,
        node47: step,
        node48: step,
        node49: step,
        node50: step,
        node51: step,
        node52: step,
        node53: step,
        node54: step,
        node55: step,
        node56: step,
        node57: step,
        node58: step,
        node59: step,
        node60: step,
        node61: step,
        node62: step,
        node63: step,
        node64: step,
        node65: step,
        node66: step,
        node67: step,
        node68: step,
        node69: step,
        node70: step,
        node71: step,
        node72: step,
        node73: step,
        node74: step,
        node75: step,
        node76: step,
        node77: step,
        node78: step,
        node79: step,
        node80: step,
        node81: step,
        node82: step,
        node83: step,
        node84: step,
        node85: step,
        node86: step,
        node87: step,
        node88: step,
        node89: step,
        node90: step,
        node91: step,
        node92: step,
        node93: step,
        node94: step,
        node95: step,
        node96: step,
        node97: step,
        node98: step,
        node99: step,
    };
    let report = Run::new(graph).start(0).await.unwrap();
    assert_eq!(report.outcome.finished(), Some(100));
}
