/**
 * The calls of one committed answer, until each has a recorded result.
 *
 * Invariants
 * - L9 A call runs at most once. Neighbouring reads run side by side, all else in the order of the answer.
 * - L10 A change of a file is permitted (and recorded) before it happens; a change of anything else happens at the
 *   supervisor's.
 * - M5 Interrupt mail ends what runs and closes what is left, unrun, with recorded results.
 */
import type { CallId } from '../kernel/index.ts';
import { ANSWER_CHARS_MAX, recall } from '../memory/index.ts';
import { anchored, type Call, type Judgement, judgeCall } from '../permissions/index.ts';
import type { ActorReply, Workplace } from '../protocol/index.ts';
import type { CallBlock } from '../sessions/index.ts';
import { boundOutcome, parseCall, type Tool, type ToolContext } from '../tools/index.ts';
import type { Conversation } from './conversation.ts';
import { abortable, type Interrupts } from './interrupts.ts';
import type { AgentDeps } from './port.ts';
import type { Recorder, ResultEntry } from './recorder.ts';
import { skillAccess } from './skill-access.ts';

export interface CallDeps {
  readonly deps: AgentDeps;
  readonly conversation: Conversation;
  readonly recorder: Recorder;
  readonly interrupts: Interrupts;
}

const CUT = 'interrupted by mail';
const NOT_RUN = 'interrupted by mail; not run';
const TASK_OVER = 'not run: your task has ended with the call before';

/** What may be left alone half way. */
const READS: ReadonlySet<Tool['access']> = new Set(['read', 'net']);

type Prepared = {
  readonly call: CallBlock;
  readonly tool: Tool;
  readonly input: unknown;
};

export async function runCalls(run: CallDeps, calls: readonly CallBlock[]): Promise<void> {
  const queue = [...calls];
  while (queue.length > 0) {
    if (run.interrupts.raised) {
      await run.recorder.commitResults(queue.map((call) => closed(call, NOT_RUN, 'mail')));
      return;
    }
    if (run.conversation.hasEnded()) {
      await run.recorder.commitResults(queue.map((call) => closed(call, TASK_OVER)));
      return;
    }
    const batch = nextBatch(queue, run.deps.start.tools);
    queue.splice(0, batch.length);
    await Promise.all(batch.map((call) => runCall(run, call)));
  }
}

/** As many neighbouring reads as there are, or one call of any other kind. */
function nextBatch(queue: readonly CallBlock[], available: readonly string[]): CallBlock[] {
  const reads: CallBlock[] = [];
  for (const call of queue) {
    const parsed = parseCall(call, available);
    if (parsed.kind !== 'ok' || parsed.tool.access !== 'read') break;
    reads.push(call);
  }
  return reads.length > 0 ? reads : queue.slice(0, 1);
}

async function runCall(run: CallDeps, call: CallBlock): Promise<void> {
  const parsed = parseCall(call, run.deps.start.tools);
  if (parsed.kind !== 'ok') {
    await run.recorder.commitResults([closed(call, parsed.text)]);
    return;
  }
  const { tool, input } = parsed;
  run.recorder.live('tooling', call.name);
  const context = toolContext(run);
  const objection = tool.check(input, context);
  if (objection !== null) {
    await run.recorder.commitResults([closed(call, `refused: ${objection}`)]);
  } else if (tool.where === 'supervisor') {
    await act(run, call);
  } else {
    const result = await runInThread(run, { call, tool, input }, context);
    await run.recorder.commitResults([result]);
  }
}

/** The supervisor runs it and records the result; what it refuses is recorded here. */
async function act(run: CallDeps, call: CallBlock): Promise<void> {
  const { id, name, input } = call;
  const reply = await run.recorder.request({ type: 'act', call: id, tool: name, input });
  if (reply.type === 'acted') run.recorder.keep(reply.result);
  else await run.recorder.commitResults([closed(call, refusal(reply))]);
}

async function runInThread(
  run: CallDeps,
  prepared: Prepared,
  context: ToolContext,
): Promise<ResultEntry> {
  const { call, tool, input } = prepared;
  const { signal } = run.interrupts;
  let search: ToolContext = context;
  let asks = false;
  let wanted = input;
  if (tool.access === 'read') {
    // Reads are decided here, on the rules as they were last told; only what is to be asked about goes further.
    const { action, reason, excludes } = judgeRead(run, { tool: tool.name, input }, context);
    if (action === 'deny') return closed(call, `refused: ${reason}`);
    search = searchWithin(run, excludes, context);
    asks = action === 'ask' || isHooked(run, tool.name);
  }
  if (asks || tool.access !== 'read') {
    const reply = await permit(run, call);
    if (reply === null) return closed(call, NOT_RUN, 'mail');
    if (reply.type !== 'permitted') return closed(call, refusal(reply));
    if (reply.input !== undefined) {
      const parsed = parseCall({ name: tool.name, input: reply.input }, [tool.name]);
      if (parsed.kind !== 'ok') return closed(call, parsed.text);
      wanted = parsed.input;
      // What rules say of the new input, the supervisor has judged; what they keep shut is found out here.
      if (tool.access === 'read') {
        const { excludes } = judgeRead(run, { tool: tool.name, input: wanted }, context);
        search = searchWithin(run, excludes, context);
      }
    }
    // A permit may have taken long: the tree it was asked for may be gone by now.
    const objection = tool.check(wanted, toolContext(run));
    if (objection !== null) return closed(call, `refused: ${objection}`);
  }
  try {
    const running = tool.execute?.(wanted, search, signal);
    if (running === undefined) return closed(call, `"${tool.name}" can not run here`);
    // What changes files is never left alone half way: it is short, and its end is its effect.
    const outcome = await (READS.has(tool.access) ? abortable(running, signal) : running);
    return resultOf(call, await boundOutcome(outcome, run.deps.outputs));
  } catch (error) {
    if (!signal.aborted || run.interrupts.stopped) throw error;
    return closed(call, CUT, 'mail');
  }
}

/** A hook names this read, so it is not decided here. */
function isHooked({ deps }: CallDeps, tool: string): boolean {
  const { hooked = [] } = deps.port.rules() ?? deps.start.permissions;
  return hooked.some(
    (name) => name === tool || (name.endsWith('*') && tool.startsWith(name.slice(0, -1))),
  );
}

function judgeRead(run: CallDeps, call: Call, context: ToolContext): Judgement {
  const { port, start, look } = run.deps;
  const rules = port.rules() ?? start.permissions;
  const place = { actor: rules.path ?? start.name, root: rootOf(call.input, context) };
  const { home = null } = rules;
  const resolve = look && anchored(look, { root: place.root ?? '/', home });
  return judgeCall(call, rules, { ...place, resolve });
}

/** A search is not given what the rules keep shut, and what it finds is judged file by file all the same (P22). */
function searchWithin(
  run: CallDeps,
  excludes: readonly string[],
  context: ToolContext,
): ToolContext {
  const mayShow = (path: string): boolean =>
    judgeRead(run, { tool: 'read_file', input: { path } }, context).action === 'allow';
  return { ...context, shut: { globs: excludes, mayShow } };
}

/** A file that a skill brings is judged as one that lies in the tree: a deny rule keeps it shut, and nothing else does. */
function rootOf(input: unknown, { tree, skills }: ToolContext): string | null {
  const path = typeof input === 'object' && input !== null && 'path' in input ? input.path : null;
  const brought = typeof path === 'string' ? skills?.file(path) : null;
  return brought?.tree.root ?? tree?.root ?? null;
}

/** Null: interrupt mail came before the decision, and the call is off. */
async function permit(run: CallDeps, call: CallBlock): Promise<ActorReply | null> {
  const { id, name, input } = call;
  try {
    const asked = run.recorder.request({ type: 'permit', call: id, tool: name, input });
    return await abortable(asked, run.interrupts.signal);
  } catch (error) {
    if (run.interrupts.raised && !run.interrupts.stopped) return null;
    throw error;
  }
}

function refusal(reply: ActorReply): string {
  if (reply.type === 'refused') return `refused: ${reply.reason}`;
  if (reply.type !== 'failed') return `failed: the supervisor answered "${reply.type}"`;
  const { message, hint } = reply.error;
  return hint === undefined ? `failed: ${message}` : `failed: ${message} (${hint})`;
}

/** A result of a call that was not run, or not to its end. */
export function closed(
  call: { readonly id: CallId; readonly name: string },
  text: string,
  interrupted?: 'mail' | 'crash',
): ResultEntry {
  return {
    type: 'result',
    call: call.id,
    tool: call.name,
    ok: false,
    text,
    ...(interrupted === undefined ? {} : { interrupted }),
  };
}

function resultOf(
  call: CallBlock,
  outcome: { readonly ok: boolean; readonly text: string; readonly output?: string },
): ResultEntry {
  const { ok, text, output } = outcome;
  return {
    type: 'result',
    call: call.id,
    tool: call.name,
    ok,
    text,
    ...(output === undefined ? {} : { output }),
  };
}

export function toolContext(run: CallDeps): ToolContext {
  const { deps, conversation } = run;
  const workplace: Workplace | null = deps.port.workplace();
  return {
    tree: workplace === null ? null : deps.treeAt(workplace.root),
    writable: workplace?.writable ?? false,
    clock: deps.clock,
    outputs: deps.outputs,
    ownsOutput: (path) => conversation.ownsOutput(path),
    inbox: () => {
      conversation.receive(deps.port.takeMail());
      conversation.admitBulk();
      return { waiting: conversation.waiting, seen: conversation.seenMail() };
    },
    todo: () => conversation.todo(),
    limitWork: deps.limitWork,
    web: deps.web,
    skills: skillAccess(deps.start.skills ?? [], deps.treeAt),
    memory: async (query) =>
      recall((await deps.notes?.()) ?? [], { query, charsMax: ANSWER_CHARS_MAX }),
  };
}
