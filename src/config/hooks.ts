/** `hooks:` of team files and of `config.yaml`: commands that look at calls and ends. */
import * as z from 'zod';
import { HOOK_EVENTS, type Hook, type HookEvent } from '../protocol/hook.ts';
import { parseDuration } from './duration.ts';
import { HOOK_TIMEOUT_MAX_MS, HOOK_TIMEOUT_MS, HOOKS_MAX } from './limits.ts';
import type { Finding, Path } from './problem.ts';
import { duration, name, object, text } from './schema.ts';

export interface RawHook {
  readonly id?: string | undefined;
  readonly on: HookEvent;
  readonly tool?: string | readonly string[] | undefined;
  readonly run: string;
  readonly timeout?: string | undefined;
}

export const hooks: z.ZodType<readonly RawHook[]> = z
  .array(
    object({
      id: name.optional(),
      on: z.enum(HOOK_EVENTS),
      tool: z.union([text, z.array(text)]).optional(),
      run: text,
      timeout: duration.optional(),
    }),
  )
  .max(HOOKS_MAX);

const OF_CALLS: ReadonlySet<HookEvent> = new Set(['before_tool', 'after_tool']);

/** `prefix`: of ids that the file does not give. `origin`: the file. */
export function resolveHooks(
  raw: readonly RawHook[],
  from: { readonly prefix: string; readonly origin: string; readonly path: Path },
  errors: Finding[],
): readonly Hook[] {
  return raw.map(({ id, on, tool, run, timeout }, index) => {
    const timeoutMs = timeout === undefined ? HOOK_TIMEOUT_MS : parseDuration(timeout);
    const path = [...from.path, index];
    if (timeoutMs === null || timeoutMs > HOOK_TIMEOUT_MAX_MS) {
      const message = `a hook has at most ${HOOK_TIMEOUT_MAX_MS / 1_000}s`;
      errors.push({ path: [...path, 'timeout'], message });
    }
    if (tool !== undefined && !OF_CALLS.has(on)) {
      const message = `only before_tool and after_tool are about a tool, ${on} is not`;
      errors.push({ path: [...path, 'tool'], message, at: 'key' });
    }
    const tools = typeof tool === 'string' ? [tool] : (tool ?? null);
    return {
      id: id ?? `${from.prefix}-${index + 1}`,
      on,
      tools,
      run,
      timeoutMs: timeoutMs ?? HOOK_TIMEOUT_MS,
      origin: from.origin,
    };
  });
}
