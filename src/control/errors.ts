/** What can go wrong with a command, each with what to do about it. The only place of the room that builds errors. */

import { EXIT, ensureError, TroupeError } from '../kernel/errors.ts';
import { nearMatches } from '../kernel/ids.ts';
import { POLICY_MODES } from '../protocol/team.ts';
import type { TaskNode } from '../tasks/index.ts';

const LISTED_MAX = 12;

function unknown(what: string, wanted: string, known: readonly string[]): TroupeError {
  const near = nearMatches(wanted, known);
  const listed = known.slice(0, LISTED_MAX).join(', ');
  const more = known.length > LISTED_MAX ? ` and ${known.length - LISTED_MAX} more` : '';
  const there = known.length === 0 ? `There is no ${what} yet.` : `There are: ${listed}${more}.`;
  return new TroupeError({
    code: `control/unknown-${what.replaceAll(' ', '-')}`,
    message: `there is no ${what} ${JSON.stringify(wanted)}`,
    hint: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : there,
    exit: EXIT.notFound,
    data: { [what]: wanted, near },
  });
}

/** Reserved addresses that people can't write to: why, and what to do instead. */
const NO_READERS: Readonly<Record<string, readonly [string, string]>> = {
  user: [
    '"user" is you: mail of the agents to you has this address',
    'Read it with `troupe tail user`.',
  ],
  supervisor: [
    '"supervisor" is the runtime itself, which follows the team file and reads no mail of yours',
    'Stop it with `troupe stop`, or write to a member, or to `all`.',
  ],
  broker: [
    '"broker" decides what agents may do, by the rules of the team file, and reads no mail',
    'What is decided how is told by `troupe policy explain`.',
  ],
  system: [
    '"system" is the name under which Troupe itself writes to agents; nobody reads its mail',
    'Write to a member, or to `all`.',
  ],
};

export const errors = {
  unknownRun: (run: string, known: readonly string[]): TroupeError => unknown('run', run, known),
  unknownTask: (task: string, known: readonly string[]): TroupeError =>
    unknown('task', task, known),
  unknownActor: (actor: string, known: readonly string[]): TroupeError =>
    unknown('actor', actor, known),
  unknownTaskOrActor: (name: string, known: readonly string[]): TroupeError => {
    const near = nearMatches(name, known);
    return new TroupeError({
      code: 'control/unknown-name',
      message: `there is no task and no actor ${JSON.stringify(name)} in this run`,
      hint:
        near.length > 0
          ? `Did you mean ${near.join(' or ')}?`
          : '`troupe tasks` lists the tasks, `troupe ps` the actors.',
      exit: EXIT.notFound,
    });
  },
  unknownGrant: (id: string, known: readonly string[]): TroupeError => unknown('rule', id, known),
  grantOfRun: (id: string): TroupeError =>
    new TroupeError({
      code: 'control/grant-of-run',
      message: `${id} was granted for a run that does not go on, and ends with it`,
      hint: 'Revoke it while its run goes on.',
    }),
  unknownBranch: (branch: string, known: readonly string[]): TroupeError =>
    unknown('branch', branch, known),
  unknownSaved: (wanted: string, known: readonly string[]): TroupeError =>
    unknown('saved work', wanted, known),
  whichSaved: (task: string, runs: readonly string[]): TroupeError =>
    new TroupeError({
      code: 'control/which-saved',
      message: `several runs have saved work of ${task}`,
      hint: `Say which: ${runs.map((run) => `troupe restore ${run}/${task}`).join(' or ')}`,
      exit: EXIT.usage,
    }),
  noRemote: (name: string | undefined, known: readonly string[]): TroupeError =>
    new TroupeError({
      code: 'control/no-remote',
      message:
        name === undefined
          ? 'there is no remote that the branch could be pushed to'
          : `there is no remote ${JSON.stringify(name)}`,
      hint: known.length === 0 ? 'git remote add origin URL' : `There are: ${known.join(', ')}.`,
      exit: name === undefined ? EXIT.unfinished : EXIT.notFound,
    }),
  noForgeTool: (why: string, cause?: unknown): TroupeError =>
    new TroupeError({
      cause,
      code: 'control/no-forge-tool',
      message: `nothing was pushed: ${why}`,
      hint: '`troupe pr RUN` without --create prints the commands to type.',
      exit: EXIT.unfinished,
    }),
  outsideFailed: (command: string, output: string): TroupeError =>
    new TroupeError({
      code: 'control/command-failed',
      message: `\`${command}\` failed: ${output}`,
      exit: EXIT.unfinished,
    }),
  noReader: (name: string): TroupeError =>
    new TroupeError({
      code: 'control/no-reader',
      message: NO_READERS[name]?.[0] ?? `nobody reads the mail of "${name}"`,
      hint: NO_READERS[name]?.[1],
      exit: EXIT.notFound,
    }),
  unknownTaskOrRun: (
    wanted: string,
    known: { readonly tasks: readonly string[]; readonly runs: readonly string[] },
  ): TroupeError => {
    const near = nearMatches(wanted, [...known.tasks, ...known.runs]);
    return new TroupeError({
      code: 'control/unknown-task',
      message: `there is no task and no run ${JSON.stringify(wanted)}`,
      hint:
        near.length > 0
          ? `Did you mean ${near.join(' or ')}?`
          : '`troupe tasks` lists the tasks of the newest run, `troupe runs` the runs.',
      exit: EXIT.notFound,
      data: { near },
    });
  },
  notToContinue: ({ spec, state, path }: TaskNode): TroupeError =>
    new TroupeError({
      code: 'control/not-to-continue',
      message:
        state === 'failed' && path === null
          ? `${spec.id} failed before it had a tree, so there is no work to go on with`
          : `${spec.id} is ${state}; only a task that failed waits for somebody to put it in order`,
      hint: '`troupe tasks` shows the tasks and why they stand where they are.',
      exit: EXIT.unfinished,
    }),
  conflictsLeft: (at: {
    readonly run: string;
    readonly task: string;
    readonly path: string;
    readonly places: readonly string[];
  }): TroupeError =>
    new TroupeError({
      code: 'control/conflicts-left',
      message: `${at.task} is in conflict with what landed before it; the places are marked in ${at.path}`,
      hint: `${at.places.join('\n')}\nEdit them there, then once more: troupe merge ${at.run} --continue ${at.task}`,
      exit: EXIT.unfinished,
      data: { run: at.run, task: at.task, path: at.path, files: at.places },
    }),
  treeUnusable: (path: string, why: string): TroupeError =>
    new TroupeError({
      code: 'control/tree-unusable',
      message: `the tree ${path} can't be used as it is: ${why}`,
      hint: 'Put that right there, then try again.',
      exit: EXIT.unfinished,
    }),
  noRun: (what: string): TroupeError =>
    new TroupeError({
      code: 'control/no-run',
      message: `${what}: there is no run in this repository yet`,
      hint: 'Start one with `troupe run TEAM`.',
      exit: EXIT.notFound,
    }),
  noLiveRun: (): TroupeError =>
    new TroupeError({
      code: 'control/no-live-run',
      message: 'no run is going on in this repository',
      hint: '`troupe runs` lists all runs; `troupe resume RUN` goes on with an interrupted one.',
      exit: EXIT.noSupervisor,
    }),
  notLiveForCompact: (run: string, ended: string | null): TroupeError =>
    new TroupeError({
      code: ended === null ? 'control/not-running' : 'control/run-ended',
      message:
        ended === null
          ? `no supervisor works on the run ${run}, so no conversation of it can be compacted now`
          : `the run ${run} has ended (${ended}): no conversation of it goes on`,
      hint:
        ended === null
          ? `When it goes on (\`troupe resume ${run}\`) long conversations are compacted by themselves.`
          : undefined,
      exit: ended === null ? EXIT.noSupervisor : EXIT.unfinished,
    }),
  notHeld: (run: string): TroupeError =>
    new TroupeError({
      code: 'control/not-running',
      message: `the run ${run} is not going on`,
      hint: `\`troupe resume ${run}\` goes on with it, if it was interrupted.`,
      exit: EXIT.noSupervisor,
    }),
  treesUnwritable: (folder: string, cause: unknown): TroupeError =>
    new TroupeError({
      code: 'control/trees-unwritable',
      message: `the folder for the trees, ${folder}, cannot be made: ${ensureError(cause).message}`,
      hint: 'Set XDG_STATE_HOME, TROUPE_TREES, or worktree.root in the team file to a place that can be written.',
      exit: EXIT.usage,
      cause,
    }),
  foreignJournal: (run: string, other: string): TroupeError =>
    new TroupeError({
      code: 'control/foreign-journal',
      message: `the journal in runs/${run} belongs to the run ${other}`,
      hint: 'Somebody copied it there. Nothing was changed; put the right folder back.',
      exit: EXIT.usage,
    }),
  lostRecords: (run: string, what: string): TroupeError =>
    new TroupeError({
      code: 'control/lost-records',
      message: `the journal of ${run} is damaged: ${what}`,
      hint: 'What is shown is without them. `troupe doctor` says more.',
      exit: EXIT.storage,
    }),
  damagedRun: (run: string, path: string, why: string): TroupeError =>
    new TroupeError({
      code: 'control/damaged-run',
      message: `${path} can't be used: ${why}`,
      hint: `Nothing was changed. The journal of ${run} lies beside it and is whole by itself.`,
      exit: EXIT.usage,
      data: { run, path },
    }),
  newerRun: (run: string, version: number): TroupeError =>
    new TroupeError({
      code: 'control/newer-version',
      message: `the run ${run} was made by a newer Troupe (run.json version ${version}; this one reads 1)`,
      hint: 'Use the newer Troupe for this run.',
      exit: EXIT.usage,
    }),
  bareRepository: (path: string): TroupeError =>
    new TroupeError({
      code: 'control/bare-repository',
      message: `${path} is a bare repository: it has no work tree to take files from`,
      hint: 'Clone it and use the clone, or name a work tree with --workspace.',
      exit: EXIT.usage,
    }),
  badRunId: (run: string): TroupeError =>
    new TroupeError({
      code: 'control/bad-run-id',
      message: `${JSON.stringify(run)} is no run id`,
      hint: 'Use a-z, 0-9, - and _, starting with a letter or digit, at most 48 characters.',
      exit: EXIT.usage,
    }),
  runExists: (run: string): TroupeError =>
    new TroupeError({
      code: 'control/run-exists',
      message: `there is a run ${run} already`,
      hint: `Choose another --run-id, or see \`troupe tasks --run ${run}\`.`,
      exit: EXIT.usage,
    }),
  treesLeft: (folder: string): TroupeError =>
    new TroupeError({
      code: 'control/trees-left',
      message: `there are trees of a run of this name in ${folder}, though this repository knows no such run`,
      hint: 'Look whether you need something of them, then delete the folder, or choose another --run-id.',
      exit: EXIT.usage,
    }),
  held: (holder: { readonly pid: number; readonly startedAt: string | null }): TroupeError =>
    new TroupeError({
      code: 'control/held',
      message:
        `another troupe works on this repository: process ${holder.pid}` +
        (holder.startedAt === null ? '' : `, since ${holder.startedAt}`),
      hint: 'Watch it with `troupe ps` and `troupe tail --follow`, end it with `troupe stop`, or wait for it.',
      exit: EXIT.noSupervisor,
      data: { ...holder },
    }),
  unknownMode: (mode: string): TroupeError =>
    new TroupeError({
      code: 'control/unknown-mode',
      message: `there is no mode ${JSON.stringify(mode)}`,
      hint: `There is: ${POLICY_MODES.join(', ')}.`,
      exit: EXIT.usage,
    }),
  notUp: (pid: number): TroupeError =>
    new TroupeError({
      code: 'control/not-up',
      message: `process ${pid} works on this repository in the foreground of its own run; no supervisor is up`,
      hint: 'End its run with `troupe stop`: the process ends with it.',
      exit: EXIT.noSupervisor,
    }),
  replayNotHere: (run: string): TroupeError =>
    new TroupeError({
      code: 'control/replay',
      message: `${run} is a replay, which goes on in the foreground only`,
      hint: 'End the supervisor with `troupe down`, then resume it.',
      exit: EXIT.noSupervisor,
    }),
  silent: (): TroupeError =>
    new TroupeError({
      code: 'control/silent',
      message: 'the supervisor of this repository does not answer',
      hint: 'Try again in a moment; nothing was sent.',
      exit: EXIT.noSupervisor,
      retryable: true,
    }),
  ended: (run: string, state: string): TroupeError =>
    new TroupeError({
      code: 'control/run-ended',
      message: `the run ${run} has ended (${state}), there is nothing to resume`,
      hint: `See \`troupe tasks --run ${run}\`, or start another run.`,
      exit: EXIT.unfinished,
    }),
  spentUp: (run: string): TroupeError =>
    new TroupeError({
      code: 'control/run-ended',
      message: `the run ${run} has ended by its budget, and goes on only with a larger one`,
      hint: `Give it more, for example \`troupe resume ${run} --budget-usd 5\`: what it may spend in all, with what is spent already (\`troupe usage ${run}\`).`,
      exit: EXIT.budget,
    }),
  tooSmall: (what: string, spent: string): TroupeError =>
    new TroupeError({
      code: 'control/budget',
      message: `${what} is not more than what the run has spent already (${spent})`,
      hint: 'The number is what the run may spend in all, not what is added.',
      exit: EXIT.usage,
    }),
  endedForMail: (run: string, state: string): TroupeError =>
    new TroupeError({
      code: 'control/run-ended',
      message: `the run ${run} has ended (${state}): nobody is left to read mail`,
      hint: 'Start another run, or name one that is going on with --run.',
      exit: EXIT.unfinished,
    }),
  noRecording: (path: string): TroupeError =>
    new TroupeError({
      code: 'control/unknown-run',
      message: `there is no run and no cassette ${JSON.stringify(path)}`,
      hint: '`troupe runs` lists the runs; `troupe replay RUN --export FILE` writes a cassette.',
      exit: EXIT.notFound,
    }),
  badCassette: (path: string): TroupeError =>
    new TroupeError({
      code: 'control/cassette',
      message: `${path} is no cassette`,
      hint: 'A cassette is what `troupe replay RUN --export FILE` writes.',
      exit: EXIT.usage,
    }),
  noRecordedBase: (run: string, commit: string, cause: unknown): TroupeError =>
    new TroupeError({
      code: 'control/no-base',
      message: `${run} began at the commit ${commit}, which this repository does not have`,
      hint: 'Fetch it, or replay in a clone that has it.',
      exit: EXIT.usage,
      cause,
    }),
  running: (run: string): TroupeError =>
    new TroupeError({
      code: 'control/running',
      message: `the run ${run} is going on`,
      hint: 'Wait for its end, or stop it with `troupe stop`.',
      exit: EXIT.unfinished,
    }),
} as const;
