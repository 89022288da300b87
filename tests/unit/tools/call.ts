import { VirtualClock } from '../../../src/testing/virtual-clock.ts';
import {
  boundOutcome,
  parseCall,
  TOOL_NAMES,
  type ToolContext,
  type TreeFiles,
} from '../../../src/tools/index.ts';

export class MemoryOutputs {
  readonly saved: Map<string, string> = new Map<string, string>();

  async save(text: string): Promise<{ path: string }> {
    const path = `outputs/out_${this.saved.size + 1}.log`;
    this.saved.set(path, text);
    return { path };
  }

  async read(
    path: string,
    maxBytes: number,
    offset = 0,
  ): Promise<{ bytes: Uint8Array; size: number } | null> {
    const text = this.saved.get(path);
    if (text === undefined) return null;
    const bytes = new TextEncoder().encode(text);
    return { bytes: bytes.subarray(offset, offset + maxBytes), size: bytes.length };
  }
}

export function contextOf(
  tree: TreeFiles | null,
  more: Partial<ToolContext> & { outputs?: MemoryOutputs } = {},
): ToolContext {
  const outputs = more.outputs ?? new MemoryOutputs();
  return {
    tree,
    writable: true,
    clock: new VirtualClock(),
    outputs,
    ownsOutput: (path) => outputs.saved.has(path),
    inbox: () => ({ waiting: [], seen: [] }),
    todo: () => [],
    limitWork: (work) => {
      work();
      return true;
    },
    ...more,
  };
}

/** A call from its parameters to what the model reads; a mark before it tells when it failed. */
export async function call(name: string, input: unknown, context: ToolContext): Promise<string> {
  const parsed = parseCall({ name, input }, TOOL_NAMES);
  if (parsed.kind !== 'ok') return `! ${parsed.text}`;
  const objection = parsed.tool.check(parsed.input, context);
  if (objection !== null) return `! ${objection}`;
  const { signal } = new AbortController();
  const outcome = await parsed.tool.execute?.(parsed.input, context, signal);
  if (outcome === undefined) return '(supervisor)';
  const bounded = await boundOutcome(outcome, context.outputs);
  return (bounded.ok ? '' : '! ') + bounded.text;
}
