/**
 * `scripted`: a provider that answers from a script, for demos, tests and rehearsals. It streams in pieces and waits on
 * the clock like a real one, so that nothing behind it can tell the difference.
 *
 * Invariants
 * - L6 A stream does not throw; it ends with exactly one of `end`, `error`, `aborted`, and after an abort with `aborted`.
 */
import { type CallId, type Clock, ensureError } from '../kernel/index.ts';
import type {
  ContentBlock,
  Provider,
  ProviderEvent,
  ProviderRequest,
  StopReason,
  Usage,
} from '../protocol/index.ts';
import { CHARS_PER_TOKEN, PIECE_CHARS } from './limits.ts';
import type { Script } from './parse-script.ts';
import type { ScriptAnswer } from './script.ts';
import { type Choice, chooseAnswer } from './script-position.ts';

export interface ScriptedDeps {
  readonly script: Script;
  readonly clock: Clock;
  /** A fresh id, unique in the run. */
  readonly callId: () => CallId;
}

export function makeScriptedProvider(deps: ScriptedDeps): Provider {
  return { name: 'scripted', stream: (request, signal) => stream(deps, request, signal) };
}

async function* stream(
  deps: ScriptedDeps,
  request: ProviderRequest,
  signal: AbortSignal,
): AsyncGenerator<ProviderEvent> {
  if (request.purpose === 'summary') {
    const message = 'a script has no summary to give';
    yield { type: 'error', code: 'scripted/no-summary', message, retryable: false };
    return;
  }
  try {
    const choice = chooseAnswer(deps.script, request);
    if (choice.kind === 'none') {
      const { message, hint } = choice;
      yield { type: 'error', code: 'scripted/no-turn', message, hint, retryable: false };
      return;
    }
    yield* perform({ deps, choice, request, signal });
  } catch (error) {
    if (signal.aborted) yield { type: 'aborted' };
    else {
      const { message } = ensureError(error);
      yield { type: 'error', code: 'scripted/internal', message, retryable: false };
    }
  }
}

interface Performance {
  readonly deps: ScriptedDeps;
  readonly choice: Extract<Choice, { kind: 'answer' }>;
  readonly request: ProviderRequest;
  readonly signal: AbortSignal;
}

async function* perform(performance: Performance): AsyncGenerator<ProviderEvent> {
  const { deps, choice, request, signal } = performance;
  const { answer, mark } = choice;
  const pause = async (ms: number): Promise<void> => {
    if (ms > 0) await deps.clock.sleep(ms, signal);
    signal.throwIfAborted();
  };
  await pause(answer.delay ?? 0);
  if (answer.fail !== undefined) {
    const { message, code = 'scripted/fail', retryable = false } = answer.fail;
    yield { type: 'error', code, message, retryable };
    return;
  }
  const pace = answer.pace ?? deps.script.pace ?? 0;
  let first = true;
  for (const delta of pieces(answer.text ?? '')) {
    await pause(first ? 0 : pace);
    first = false;
    yield { type: 'text', delta };
  }
  const content: ContentBlock[] = [];
  if (answer.text !== undefined && answer.text !== '') {
    content.push({ type: 'text', text: answer.text });
  }
  for (const { tool, input } of answer.calls ?? []) {
    await pause(first ? 0 : pace);
    first = false;
    const id = deps.callId();
    content.push({ type: 'call', id, name: tool, input });
    yield { type: 'call', id, name: tool };
  }
  signal.throwIfAborted();
  const usage = usageOf(answer, content, request);
  yield { type: 'end', content, stop: stopOf(answer), usage, meta: { script: mark } };
}

function stopOf(answer: ScriptAnswer): StopReason {
  if (answer.stop !== undefined) return answer.stop;
  return (answer.calls ?? []).length > 0 ? 'calls' : 'end';
}

/** Cut after a space where there is one, never inside a surrogate pair. */
function pieces(text: string): string[] {
  const found = text.match(
    new RegExp(`[^]{1,${PIECE_CHARS}}(?<=\\s|$)|[^]{1,${PIECE_CHARS}}`, 'gu'),
  );
  return found ?? [];
}

function usageOf(
  answer: ScriptAnswer,
  content: readonly ContentBlock[],
  request: ProviderRequest,
): Usage {
  const stated = answer.usage;
  const chars = request.system.length + JSON.stringify(request.messages).length;
  const input = stated?.input ?? Math.ceil(chars / CHARS_PER_TOKEN);
  const output = stated?.output ?? Math.ceil(JSON.stringify(content).length / CHARS_PER_TOKEN);
  return {
    inputTokens: input,
    outputTokens: output,
    cacheReadTokens: stated?.cache_read ?? 0,
    cacheWriteTokens: stated?.cache_write ?? 0,
    costUsd: stated?.usd ?? 0,
    estimated: stated?.input === undefined || stated.output === undefined,
  };
}
