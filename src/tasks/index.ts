/**
 * Room `tasks`: the task graph of a run, pure. Owns what a task is waiting for, which one starts next, who may claim it
 * and what its end leads to. Its neighbour `supervisor` decides when to ask and records the answers; `worktree` owns
 * trees and merges.
 *
 * Invariants: T1 one claim at a time · T2 ready means all needs done · T3 terminal is final · T4 ends are counted and
 * bounded · T5 critical path first · T6 overlapping touches never side by side · T7 late results are refused · T8 only
 * valid graphs · T9 cost does not grow with the graph · T10 failure takes its dependents along · T11 replay equals live.
 */
export { type ApplyContext, applyTask } from './apply.ts';
export {
  afterEnd,
  type Claimer,
  type ClaimOutcome,
  canClaim,
  cascade,
  checkFence,
  type EndOutcome,
  type FenceOutcome,
  nextAttempt,
  revivedBy,
} from './claim.ts';
export {
  allTerminal,
  type GateEvidence,
  graphWork,
  isActive,
  isTerminal,
  makeGraph,
  mergeQueue,
  runningCount,
  type TaskGraph,
  type TaskNode,
  taskCounts,
} from './graph.ts';
export { ATTEMPTS_DEFAULT, CONFLICTS_MAX, INTERRUPTIONS_MAX } from './limits.ts';
export { planOf, type TaskPlan } from './plan.ts';
export { pickNext, touchesBlocker } from './ready.ts';
export { type ReasonContext, taskReason, taskRows } from './report.ts';
export { putTaskText, TASK_TEXTS, type TaskTextField, taskText } from './texts.ts';
export { globsOverlap, outsideOf } from './touches.ts';
export { type TaskProblem, type TaskProblemCode, validateTasks } from './validate.ts';
