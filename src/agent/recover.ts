/**
 * Calls that were open when the last incarnation ended are closed by recorded results, so that the next request is
 * legal. For changes of files the effect is read off the file; of all others nobody knows.
 */
import { type CallBlock, INTERRUPTED_TEXT } from '../sessions/index.ts';
import { type Effect, parseCall, type Tool } from '../tools/index.ts';
import { type CallDeps, closed, runCalls, toolContext } from './calls.ts';
import type { ResultEntry } from './recorder.ts';

export async function closeDangling(run: CallDeps): Promise<void> {
  const asked = new Set(run.deps.start.asked ?? []);
  const open = run.conversation.dangling();
  const from = open.findIndex((call) => asked.has(call.id));
  // What waits for a person was not run, nor was what comes after it: both are called again, by the same ids.
  await close(run, from < 0 ? open : open.slice(0, from));
  if (from >= 0) await runCalls(run, open.slice(from));
}

async function close(run: CallDeps, calls: readonly CallBlock[]): Promise<void> {
  const results: ResultEntry[] = [];
  for (const call of calls) results.push(await closeOne(run, call));
  await run.recorder.commitResults(results);
}

/** Held against what a hook made of its input, if one did: that is what was run. */
async function closeOne(run: CallDeps, call: CallBlock): Promise<ResultEntry> {
  const { tools, rewritten = [] } = run.deps.start;
  const made = rewritten.find(([id]) => id === call.id);
  const parsed = parseCall(made === undefined ? call : { ...call, input: made[1] }, tools);
  if (parsed.kind !== 'ok') return closed(call, parsed.text);
  if (parsed.tool.access === 'read') {
    return closed(call, 'interrupted; it changes nothing', 'crash');
  }
  switch (await effectOf(run, parsed.tool, parsed.input)) {
    case 'done':
      return {
        ...closed(call, 'interrupted after its effect: the new content is in the file'),
        ok: true,
      };
    case 'not-done':
      return closed(
        call,
        'interrupted before its effect: the new content is not in the file',
        'crash',
      );
    case 'unknown':
      return closed(call, INTERRUPTED_TEXT, 'crash');
  }
}

async function effectOf(run: CallDeps, tool: Tool, input: unknown): Promise<Effect> {
  const context = toolContext(run);
  // In another tree than that of the call (its task was taken away) nothing can be read off.
  if (tool.effect === undefined || tool.check(input, context) !== null) return 'unknown';
  return tool.effect(input, context);
}
