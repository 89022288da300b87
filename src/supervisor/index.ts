/**
 * Room `supervisor`: the one decision-maker. State is a fold over the run's records (`state.ts`), every event is decided
 * by pure functions (`decide/`), `effects/` alone acts, `loop.ts` keeps the order: append, then act.
 *
 * Invariants: S1 state equals replay · S2 death releases and is told once · S3 a run ends when all is taken in · S4 stopped
 * means gone · S5 effects after durability, in order · S6 a failed journal is fail-stop · S7 a full disk keeps what
 * was begun · S8 a snapshot and what came after equals replay · S9 nobody's flood keeps others waiting.
 */

export { readHeads } from './audit-book.ts';
export type {
  AnsweredAsk,
  AskReply,
  Begun,
  LiveEvent,
  RunWord,
  SendReceipt,
  SendRequest,
  Supervisor,
  SupervisorDeps,
} from './contract.ts';
export type { CronHost } from './cron/contract.ts';
export { describeGap } from './damage.ts';
export { refusalOfAnswer } from './decide/asks/refusals.ts';
export { markerOf } from './effects/commands.ts';
export { GrantBook } from './grants.ts';
export { describeLostEnd, readKnownSeq } from './known.ts';
export { type Liveness, NOT_ALIVE } from './live.ts';
export type { PolicySource } from './policy-source.ts';
export {
  actorRows,
  askRows,
  grantRows,
  type PlanRowOf,
  planRows,
  runRow,
  taskRows,
  treeRows,
} from './rows.ts';
export type { MachineSandbox } from './run-sandbox.ts';
export { applyRecord, makeRunState, type RunState } from './state.ts';
export { openSupervisor } from './supervisor.ts';
export { readTaskTexts } from './task-texts.ts';
export { differingViews, makeViewsAnew } from './views-anew.ts';
export { whyRows } from './why.ts';
