/**
 * The library: what a program can do with runs besides starting `troupe`. It takes the ports of `kernel` from its caller;
 * `troupe/testing` has memory twins of them. The command line is built on exactly these.
 */
export { type Problem, parseTeam, teamJsonSchema, teamTemplate } from './config/index.ts';
export {
  actorsOf,
  type CheckAnswer,
  type ControlDeps,
  checkTeam,
  cleanWorktrees,
  createRun,
  diffOf,
  eventsOfRun,
  followEvents,
  followMail,
  type LiveControl,
  type LiveSource,
  listRuns,
  listWorktrees,
  makeLiveControl,
  mergeRun,
  openWorkspace,
  prepareRun,
  type RunView,
  readMail,
  rowOf,
  sendMail,
  tasksOf,
  viewRun,
  type Workspace,
  whereIs,
} from './control/index.ts';
export {
  type Clock,
  type ErrorShape,
  EXIT,
  type Exec,
  type Files,
  isTroupeError,
  type Logger,
  type Random,
  TroupeError,
} from './kernel/index.ts';
export type {
  ActorRow,
  MailRow,
  RunFile,
  RunRow,
  TaskRow,
  Team,
  TreeRow,
  TroupeEvent,
  Usage,
} from './protocol/index.ts';
export { openSupervisor, type Supervisor, type SupervisorDeps } from './supervisor/index.ts';
