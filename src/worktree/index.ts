/**
 * Room `worktree`: all of git that the runtime does. It keeps no durable state; what it makes is handed back as plain data
 * for the journal. Expected results are values, operating failures are `TroupeError`s (`errors.ts`).
 *
 * Owns: finding the repository, branches and refs of a run, trees, commits of the runtime, saved work, the merge queue's
 * step, the merge into the user's branch. Neighbours: `tasks` says when, `permissions` what an actor may do in a tree.
 */
export {
  advanceRef,
  branchRef,
  checkBranchNamespace,
  createIntegrationBranch,
  dropRunBranches,
  integrationBranch,
  isAncestor,
  listBranches,
  mergeBase,
  type RefMove,
  readIntegration,
  readRef,
  runOfBranch,
  treeOf,
} from './branches.ts';
export { type CarryRequest, carriedPaths, planCarry } from './carry.ts';
export { type CommitOutcome, type CommitRequest, commitTree, discardChanges } from './commit.ts';
export type { ConflictFile } from './conflict.ts';
export { type DiffFile, type DiffRange, diffSummary, diffText } from './diff.ts';
export type { WorktreeErrorCode } from './errors.ts';
export type { Identity } from './git-cli.ts';
export type { ConflictHunk } from './hunks.ts';
export { type Landed, landedSince } from './landed.ts';
export { GitLock } from './lock.ts';
export type { MarkerPlace } from './markers.ts';
export { type MergeOutcome, type MergeRequest, type MergeStyle, mergeTask } from './merge.ts';
export type { TreeInfo } from './porcelain.ts';
export { clearStaleLocks, findGitLocks, type GitLocks, type StaleLocks } from './recover.ts';
export { type RemoveOutcome, type RemoveRequest, removeTree } from './remove.ts';
export {
  type Head,
  ignoreFiles,
  openRepository,
  type Repository,
  readHead,
  resolveBase,
  type WorktreeDeps,
} from './repository.ts';
export { type ResolutionOutcome, startConflictResolution } from './resolve.ts';
export { type Restored, restoreSaved } from './restore.ts';
export {
  isReachable,
  listSaved,
  type Saved,
  type SavedRef,
  type SaveRequest,
  type Snapshot,
  saveTree,
  takeSnapshot,
} from './save.ts';
export { noteSetup, setupExcludes } from './setup.ts';
export { hasWorktreeConfig, missingFolders } from './sparse.ts';
export type { LostLines } from './survival.ts';
export {
  type Registration,
  readRegistrations,
  type Tree,
  type TreeCheck,
  verifyTree,
} from './tree-check.ts';
export {
  addReadyTree,
  addScratchTree,
  addTaskTree,
  addViewTree,
  listTrees,
  refreshViewTree,
  type TaskTree,
  type TaskTreeRequest,
  type ViewRequest,
} from './trees.ts';
export {
  mergeIntoUser,
  type UserMergeOutcome,
  type UserMergeRefusal,
  type UserMergeRequest,
} from './user-merge.ts';
export { findTreeTroubles, findUnregistered, type TreeTrouble } from './whereabouts.ts';
