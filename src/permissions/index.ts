/**
 * Room `permissions`: may this tool call run? Pure, first form: rules by tool name and the floor for shell commands. The
 * broker (asks, grants, policies) comes beside it.
 *
 * Invariants: P1 deny beats ask beats allow · P2 the floor is below all rules · P3 without attendance nothing is asked ·
 * P4 what actors may never run.
 */
export { bashFloor } from './bash-floor.ts';
export { type Call, evaluateCall, type Judgement, type Permissions } from './evaluate.ts';
