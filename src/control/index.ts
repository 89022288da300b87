/**
 * Room `control`: the commands and queries that every front end uses. Queries read the journals beside the writer,
 * whether or not a supervisor runs; commands check everything before they write anything.
 *
 * Invariants: a run exists whole from one rename on (`run-store.ts`) · nothing is half started (`start.ts`) · a tree goes
 * only when its run has ended and its work is saved (`trees.ts`).
 */

export { askedInput, lateAnswer, listApprovals, listGrants } from './approvals.ts';
export { type AuditRow, auditOf, verifyAudit } from './audit.ts';
export {
  beginRun,
  type PreparedResume,
  prepareResume,
  type RunToBegin,
} from './begin.ts';
export type { MoreBudget } from './budget.ts';
export { recordingOf } from './cassette.ts';
export { type CheckAnswer, checkTeam } from './check.ts';
export { compactActor } from './compact.ts';
export { prepareContinue } from './continue-merge.ts';
export {
  type CronDetail,
  checkJob,
  cronHistory,
  cronJob,
  cronJobs,
  isUp,
  makeCronHost,
} from './cron.ts';
export { localZone, nextSlots } from './cron-next.ts';
export type { ControlDeps, Holder, LiveSource, MachineLook } from './deps.ts';
export { type Desk, type JudgeOf } from './desk.ts';
export { type DiffAnswer, type DiffQuery, diffOf } from './diff.ts';
export { examineAndMend, sandboxFinding } from './doctor.ts';
export type { DoctorMode } from './doctor-mend.ts';
export { examineMemory } from './doctor-policy.ts';
export { errors as controlErrors } from './errors.ts';
export { eventsOfRun, followEvents } from './events.ts';
export { type ExportEntry, exportRun, type RunExport } from './export.ts';
export type { Finding } from './finding.ts';
export { hooksOfRun } from './hooks.ts';
export { type JudgeDeps, makeJudge } from './judge.ts';
export { TAKE_UP } from './limits.ts';
export type { LiveControl, Subscribed } from './live.ts';
export { type LiveControlOptions, makeLiveControl } from './live-control.ts';
export { checkActors, deadMail, followMail, type MailQuery, readMail } from './mail.ts';
export { type MemoryRow, memoryRows, recalled } from './memory.ts';
export { type MergeAnswer, type MergeQuery, mergeRun } from './merge.ts';
export { type CommandRun, lastOutputs, outputPath } from './outputs.ts';
export { type Places, userConfigFolder } from './places.ts';
export { plansOf } from './plans.ts';
export {
  activeRules,
  type CallJudge,
  checkLines,
  type Explanation,
  explainCall,
  judgeLine,
} from './policy.ts';
export {
  type LayerSources,
  loadLayers,
  type PolicyPlaces,
  policyPlaces,
} from './policy-layers.ts';
export { makePolicySource } from './policy-source.ts';
export { type PullRequest, type PullRequestQuery, pullRequest } from './pull-request.ts';
export {
  actorsOf,
  failedFinalGate,
  listRuns,
  lossesOf,
  newestRun,
  type RunsAnswer,
  type RunView,
  rowOf,
  tasksOf,
  viewAsked,
  viewNewest,
  viewRun,
  waitForRun,
} from './queries.ts';
export { openRecording, prepareReplay, recordingBeside } from './replay.ts';
export {
  compareTrees,
  readRecords,
  removeReplay,
  runOutput,
  writeCassette,
} from './replay-end.ts';
export { createRun, readRunFile } from './run-store.ts';
export { type RestoredWork, restoreWork, type SavedRow, savedWork } from './saved.ts';
export { type Sent, sendMail } from './send.ts';
export {
  followTranscript,
  readTranscript,
  type SessionAnswer,
  type SessionRow,
} from './session.ts';
export { readSettings, type SettingsPlaces } from './settings.ts';
export {
  checkSkills,
  listSkills,
  type SkillCheck,
  type SkillRow,
} from './skills.ts';
export { type PreparedRun, prepareRun, type StartOptions } from './start.ts';
export { type HeldRun, planTakeUp, readHeld } from './take-up.ts';
export {
  outputTail,
  type TaskDetail,
  type TaskGate,
  type TaskSetback,
  taskDetail,
} from './task-detail.ts';
export { type TraceLayer, type TraceQuery, type TraceRow, traceOf } from './trace.ts';
export { type CleanUp, cleanWorktrees, listWorktrees, type Removed } from './trees.ts';
export {
  chooseTrustable,
  listTrustable,
  type Trustable,
  trustWords,
  untrustable,
} from './trust.ts';
export { readTrust, type TrustBook } from './trust-book.ts';
export { leftOf, letGo, type UpService } from './up.ts';
export { type UsageAnswer, type UsageRow, usageOf } from './usage.ts';
export { type Whereabouts, whereIs } from './where.ts';
export { whyOf } from './why.ts';
export { openWorkspace, type Workspace } from './workspace.ts';
