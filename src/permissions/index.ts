/**
 * Room `permissions`: may this call run? `evaluate(call, policy, context)` is pure. Commands are judged on their syntax
 * tree (`shell/`), paths by name and by what they resolve to, everything against the floor first. Its neighbour `config`
 * reads policy files; the broker (asks, grants, audit) comes above.
 *
 * Invariants: P1 deny beats ask beats allow · P2 the floor is below all rules · P3 lower layers only tighten · P4 what
 * actors may never run · P5 matching is bounded · P6 containment by whole names · P7 name and target are both judged · P8
 * protected in every spelling · P9 plain words · P10 hazards · P11 wrappers are peeled · P12 the plain subset · P13 bounded
 * time, never a throw · P14 what runs is what was read · P15 an approval binds to all that decides · P16 allow by the exact
 * name, deny by every spelling · P17 a call sets no limits of its own · P18 without attendance nothing is asked · P19 every
 * fact is covered · P20 snapshots never change · P30 an ask ends once · P31 an answer reaches a call once · P32 actors take
 * turns · P33 an offer is no wider than the call.
 */
export {
  type Ask,
  type AskState,
  applyAsk,
  askOfCall,
  asksOf,
  checkAnswer,
  equalAsk,
  makeAskState,
  openAsks,
  TIME,
} from './asks.ts';
export {
  type AuditHead,
  breakOf,
  CHAIN_START,
  type ChainKeys,
  type ChainTip,
  isAudited,
  macOf,
  markFor,
  type Sha256,
  WORKSPACE_LOG,
} from './audit-chain.ts';
export { checkPolicy, type PolicyFinding } from './check-policy.ts';
export {
  type Call,
  type Decision,
  type DecisionContext,
  digestText,
  type Obligation,
} from './decision.ts';
export { anchored, type Disk, factsOfCall, hashesOf } from './disk-facts.ts';
export { evaluate } from './evaluate.ts';
export {
  grantOfRule,
  grantRules,
  grantStanding,
  offerFor,
  pinFilesOf,
  pinsHold,
} from './grants.ts';
export {
  type CallPlace,
  factsResolver,
  type Granted,
  type Judgement,
  judgeCall,
  type Permissions,
  teamSnapshot,
} from './judge.ts';
export {
  ASK_TIMEOUT_MS,
  ASK_WARN_SHARE,
  DENIALS_IN_A_ROW,
  DENIALS_IN_A_RUN,
  GRANT_DAYS,
  GRANT_DAYS_MAX,
  GRANT_USE_STEP_MS,
} from './limits.ts';
export { PROTECTED_IN_TREE } from './path-floor.ts';
export type { Resolve, Resolved } from './paths.ts';
export { type Layer, makePolicy, type Policy, policyOf, teamLayer } from './policy.ts';
export { touchesOf } from './touches.ts';
