/**
 * Tasks through the whole loop, claim to done, with the real decisions, journal and state: files are in memory, trees and
 * commands answer at once. Cost per task must not grow with the graph: ten times the tasks, at most twelve times the cost.
 */
import { openJournal } from '../dist/journal/journal.js';
import { StructuredCodec } from '../dist/platform/structured-codec.js';
import { SystemClock } from '../dist/platform/system-clock.js';
import { makeLive } from '../dist/supervisor/live.js';
import { RunLoop } from '../dist/supervisor/loop.js';
import { makeRunState } from '../dist/supervisor/state.js';
import { MemoryFiles, SeededRandom } from '../dist/testing/index.js';
import { median } from './stats.mjs';

const SMALL = 1_000;
const LARGE = 10_000;
const ROUNDS = 3;

export async function graphRows() {
  const rows = [];
  for (const shape of ['chain', 'fan']) {
    await runGraph(shape, SMALL);
    const small = [];
    const large = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      small.push(await runGraph(shape, SMALL));
      large.push(await runGraph(shape, LARGE));
    }
    const ratio = median(large) / median(small);
    const each = ((median(large) / LARGE) * 1000).toFixed(0);
    rows.push({
      what: `${shape} of ${LARGE} tasks against ${SMALL}`,
      ratio,
      bound: 12,
      detail: `${median(large).toFixed(0)} ms against ${median(small).toFixed(0)} ms CPU; ${each} µs a task`,
    });
  }
  return rows;
}

function taskOf(shape, index) {
  return {
    id: `t${index}`,
    title: `t${index}`,
    prompt: null,
    run: 'true',
    needs: index === 0 ? [] : [shape === 'chain' ? `t${index - 1}` : 't0'],
    agent: null,
    touches: [],
    verify: [],
    attempts: 2,
    timeoutMs: 60_000,
  };
}

export function runFileOf(shape, count) {
  return {
    version: 1,
    id: 'bench',
    team: {
      version: 1,
      name: 'bench',
      goal: null,
      model: null,
      budget: { usd: null, tokens: null, wallMs: null },
      limits: { parallel: 4, turns: 60, depth: 2, fanout: 4 },
      base: 'HEAD',
      worktree: { setup: [], copy: [], link: [], root: null },
      agents: {},
      lead: null,
      teammates: [],
      tasks: Array.from({ length: count }, (_, index) => taskOf(shape, index)),
      merge: { style: 'merge', verify: [], touches: 'warn' },
      finish: { verify: [] },
      permissions: { default: 'allow', rules: [] },
    },
    teamFile: null,
    scripts: {},
    baseCommit: '0'.repeat(40),
    workspace: '/w',
    treesRoot: '/t',
    attended: false,
    createdAt: new Date(0).toISOString(),
    troupe: 'bench',
  };
}

/** CPU time of the run, ms. */
async function runGraph(shape, count) {
  const files = new MemoryFiles();
  const clock = new SystemClock();
  const logger = {
    log: (level, message, data) => level === 'error' && console.error(message, data),
  };
  const state = makeRunState(runFileOf(shape, count));
  await files.makeDirectory('/j');
  const journal = await openJournal({
    files,
    clock,
    random: new SeededRandom(1),
    directory: '/j',
    name: 'bench',
  });
  const live = makeLive({
    startedMonotonic: clock.monotonicMs(),
    wallUsedMs: 0,
    tip: '0'.repeat(40),
  });
  const host = {
    start: () => {
      throw new Error('no actors here');
    },
    close: async () => {},
  };
  const loop = new RunLoop(state, live, {
    clock,
    logger,
    journal,
    git: instantGit(),
    blobs: null,
    processes: instantProcesses(),
    views: {
      note() {},
      noteTasks() {},
      sizes: () => null,
      sync: async () => {},
      hurry() {},
      flush: async () => {},
      close: async () => {},
    },
    damage: { known: [], more: Promise.resolve([]) },
    format: { codec: new StructuredCodec(), version: 'bench' },
    hosts: { thread: host, pool: host },
    directories: { journal: '/j', outputs: '/o' },
    onRecord: () => {},
    onLive: () => {},
  });
  const began = process.cpuUsage();
  loop.post({ type: 'started' });
  await loop.finished;
  const used = process.cpuUsage(began);
  if (state.run.ended?.state !== 'done') throw new Error(`the run is ${state.run.ended?.state}`);
  return (used.user + used.system) / 1000;
}

function instantGit() {
  return {
    prepare: async (effect) => ({
      kind: 'ready',
      path: effect.path,
      branch: `b/${effect.task}`,
      start: '0'.repeat(40),
      note: null,
    }),
    commit: async () => ({ kind: 'unchanged' }),
    restore: async () => {},
    merge: async () => ({ kind: 'nothing', at: '0'.repeat(40) }),
    advance: async () => ({ kind: 'moved' }),
    view: async () => ({ kind: 'failed', text: '' }),
    scratch: async () => ({ path: '/s', drop: async () => {} }),
    drop: async () => ({ removed: true, saved: null, text: '' }),
  };
}

function instantProcesses() {
  return {
    run: async () => ({
      code: 0,
      signal: null,
      why: 'exit',
      left: [],
      text: '',
      cut: false,
      durationMs: 0,
    }),
    kill() {},
    close: async () => [],
    idle: async () => {},
  };
}
