/**
 * What is looked at before a call is judged: whether a policy file has changed, and what the disk says of the paths that the
 * call names. A decision does no I/O; it gets both with its event.
 *
 * Invariants
 * - P15 What waited is judged on the disk as it is when it goes on, not as it was when it was put.
 * - P21 A call that came after a policy file was changed is judged by the file as it is then.
 */
import { type ActorName, type CallId, ensureError, type Logger } from '../../kernel/index.ts';
import {
  type Call,
  checkAnswer,
  factsOfCall,
  pinFilesOf,
  teamSnapshot,
} from '../../permissions/index.ts';
import type { ActorRequest, CallFacts, RunFile } from '../../protocol/index.ts';
import { commandsOfTask } from '../decide/judging.ts';
import { pathOf, workplaceOf } from '../decide/roster.ts';
import type { RunEvent } from '../inbox.ts';
import type { Live } from '../live.ts';
import type { PolicySource } from '../policy-source.ts';
import type { RunState } from '../state.ts';

export interface LookingDeps {
  readonly source: PolicySource;
  readonly state: RunState;
  readonly live: Live;
  readonly logger: Logger;
  /** Takes the event of a new snapshot in, at once. */
  readonly decide: (event: RunEvent) => void;
}

type Judged = Extract<RunEvent, { type: 'request' | 'ask.answer' | 'call.looked' }>;

export class Looking {
  private readonly deps: LookingDeps;
  private readonly file: RunFile;
  private mark: string;
  private loading: Promise<void> | null = null;

  /** `mark`: of the files that the first snapshot was made of, taken before they were read. */
  constructor(deps: LookingDeps, mark: string) {
    this.deps = deps;
    this.file = deps.state.file;
    this.mark = mark;
  }

  /** Whether the newest policy has to be read before this event may be decided. */
  isLate(event: RunEvent): boolean {
    return isJudged(event) && this.isStale();
  }

  isStale(): boolean {
    return this.loading !== null || this.deps.source.mark(this.file) !== this.mark;
  }

  /** Resolves when the newest policy was decided on. Never rejects. */
  refresh(): Promise<void> {
    this.loading ??= this.load().finally(() => {
      this.loading = null;
    });
    return this.loading;
  }

  private async load(): Promise<void> {
    const { source, live, logger, decide } = this.deps;
    const mark = source.mark(this.file);
    try {
      const last = live.policy ?? teamSnapshot(this.file.team.permissions, this.file.teamFile);
      const snapshot = await source.reload(this.file, last);
      decide({ type: 'policy.changed', snapshot });
    } catch (thrown) {
      logger.log('error', 'the policy could not be read again', {
        cause: ensureError(thrown).message,
      });
    }
    this.mark = mark;
  }

  /** The event with what the disk says of it. */
  withFacts(event: RunEvent): RunEvent {
    if (!isJudged(event)) return event;
    const { state, live } = this.deps;
    switch (event.type) {
      case 'request':
        return { ...event, disk: this.factsFor(event.name, event.upward.request) };
      case 'call.looked': {
        const waiting = live.waiting.get(event.call);
        return waiting === undefined
          ? event
          : { ...event, disk: this.factsFor(event.name, waiting.asked) };
      }
      case 'ask.answer': {
        const check = checkAnswer(state.asks, event.id, event.digest);
        if (check.kind !== 'ok' || event.effect === 'deny') return event;
        const disks = new Map<CallId, CallFacts>();
        for (const { call } of check.ask.waiters) {
          const waiting = live.waiting.get(call);
          if (waiting !== undefined) disks.set(call, this.factsFor(waiting.name, waiting.asked));
        }
        return { ...event, disks };
      }
    }
  }

  private factsFor(name: ActorName, request: ActorRequest): CallFacts {
    const { state, live, source } = this.deps;
    const session = {
      actor: pathOf(state, name),
      root: workplaceOf(state, name)?.root ?? '/nonexistent/tree',
      home: this.file.home ?? null,
      attended: this.file.attended,
    };
    const { disk } = source;
    const all = callsOf(request).map((call) =>
      factsOfCall(call, session, { pins: { ...live.policy?.pins, ...pinsFor(call) }, disk }),
    );
    return merged(all);
  }
}

/** Files that a grant for this call may be pinned to. */
function pinsFor({ tool, input }: Call): Readonly<Record<string, null>> {
  const command: unknown = tool === 'bash' ? Object(input)['command'] : undefined;
  if (typeof command !== 'string') return {};
  return Object.fromEntries(pinFilesOf(command).map((file) => [file, null]));
}

function merged(all: readonly CallFacts[]): CallFacts {
  const [first] = all;
  if (all.length === 1 && first !== undefined) return first;
  return {
    paths: Object.assign({}, ...all.map((one) => one.paths)) as CallFacts['paths'],
    pins: Object.assign({}, ...all.map((one) => one.pins)) as CallFacts['pins'],
  };
}

function isJudged(event: RunEvent): event is Judged {
  if (event.type === 'ask.answer' || event.type === 'call.looked') return true;
  if (event.type !== 'request') return false;
  const { type } = event.upward.request;
  return type === 'permit' || type === 'act';
}

/** The calls that are judged because of a request: itself, and the commands of a task that it makes. */
function callsOf(request: ActorRequest): readonly Call[] {
  if (request.type !== 'permit' && request.type !== 'act') return [];
  const { tool, input } = request;
  if (tool !== 'create_task') return [{ tool, input }];
  return commandsOfTask(input).map((command) => ({ tool: 'bash', input: { command } }));
}
