/** Teams for tests: a whole resolved `Team` and `RunFile` from the few parts that a test cares about. */
import { asActorName, asTaskId } from '../../src/kernel/index.ts';
import type { AgentProfile, RunFile, TaskSpec, Team } from '../../src/protocol/index.ts';

function profile(name: string, parts: Partial<AgentProfile> = {}): AgentProfile {
  return {
    name,
    description: `a ${name}`,
    prompt: `You are a ${name}.`,
    model: null,
    tools: null,
    restart: 'transient',
    ...parts,
  };
}

export interface TaskParts extends Partial<Omit<TaskSpec, 'id' | 'needs' | 'verify'>> {
  readonly id: string;
  readonly needs?: readonly string[];
  readonly verify?: readonly string[];
}

export function task(parts: TaskParts): TaskSpec {
  const { id, needs, verify, ...rest } = parts;
  return {
    title: id,
    prompt: rest.run === undefined ? `Do ${id}.` : null,
    run: null,
    agent: null,
    touches: [],
    attempts: 2,
    timeoutMs: 60_000,
    ...rest,
    id: asTaskId(id),
    needs: (needs ?? []).map(asTaskId),
    verify: (verify ?? []).map((run) => ({ kind: 'command', run, retries: 0, timeoutMs: 60_000 })),
  };
}

export function team(
  parts: Partial<Omit<Team, 'lead' | 'teammates'>> & {
    lead?: boolean;
    teammates?: readonly string[];
  },
): Team {
  const { lead, teammates, ...rest } = parts;
  return {
    version: 1,
    name: 'test',
    goal: null,
    model: 'scripted/script.yaml',
    budget: { usd: null, tokens: null, wallMs: null },
    limits: { parallel: 4, turns: 60, depth: 2, fanout: 4 },
    base: 'HEAD',
    worktree: { setup: [], copy: [], link: [], root: null },
    agents: { lead: profile('lead'), implementer: profile('implementer') },
    tasks: [],
    merge: { style: 'merge', verify: [], touches: 'warn' },
    finish: { verify: [] },
    permissions: { default: 'allow', rules: [] },
    ...rest,
    lead: lead === true ? { name: asActorName('lead'), agent: 'lead' } : null,
    teammates: (teammates ?? []).map((name) => ({ name: asActorName(name), agent: 'implementer' })),
  };
}

export function runFile(parts: {
  readonly id: string;
  readonly team: Team;
  readonly baseCommit: string;
  readonly workspace: string;
  readonly treesRoot: string;
  readonly script?: string;
}): RunFile {
  const { script, ...rest } = parts;
  return {
    version: 1,
    ...rest,
    teamFile: null,
    scripts: script === undefined ? {} : { 'scripted/script.yaml': script },
    attended: false,
    createdAt: '2026-11-30T00:00:00.000Z',
    troupe: 'test',
  };
}
