/**
 * What a tool is. A tool of the thread runs in the actor's thread over the ports of its context; a tool of the
 * supervisor has only its contract here. Failures are values: what a tool says is for the model to read.
 */
import { z } from 'zod';
import type { Clock } from '../kernel/index.ts';
import type { MailItem } from '../protocol/index.ts';
import type { TreeFiles } from './tree-files.ts';

export interface ToolOutcome {
  readonly ok: boolean;
  readonly text: string;
  /** Output file that holds the whole, when `text` is a part of it. */
  readonly output?: string;
}

/** What became of a call that was cut: told by looking at the file. */
export type Effect = 'done' | 'not-done' | 'unknown';

/** Where complete results go that are too large for a conversation. */
export interface Outputs {
  save(text: string): Promise<{ readonly path: string }>;
  /** By the path that `save` gave (`outputs/<id>.log`); null when there is none. */
  read(
    path: string,
    maxBytes: number,
    offset?: number,
  ): Promise<{ bytes: Uint8Array; size: number } | null>;
}

export type InboxItem = Pick<MailItem, 'n' | 'from' | 'type' | 'text'>;

/** Runs synchronous work that may not end by itself (a regular expression); false: it was cut at the time limit. */
export type WorkLimit = (work: () => void, timeoutMs: number) => boolean;

export interface ToolContext {
  /** Null: the actor has no tree at all. */
  readonly tree: TreeFiles | null;
  readonly writable: boolean;
  readonly clock: Clock;
  readonly outputs: Outputs;
  /** Whether this output file came from a result of this very actor. */
  readonly ownsOutput: (path: string) => boolean;
  /** New messages, which will follow after the results of this answer, and those that were taken in before. */
  readonly inbox: () => {
    readonly waiting: readonly InboxItem[];
    readonly seen: readonly InboxItem[];
  };
  /** The actor's todo list, one line an item. */
  readonly todo: () => readonly string[];
  readonly limitWork: WorkLimit;
  /** Of a search: what the rules keep shut. */
  readonly shut?: Shut | undefined;
  /** What is remembered, best first; left out: nothing. */
  readonly memory?: ((query: string | undefined) => Promise<readonly string[]>) | undefined;
  /** The way to the web; left out: there is none. */
  readonly web?: WebAccess | undefined;
  /** Skills that this actor may load; left out: none. */
  readonly skills?: SkillAccess | undefined;
}

export interface WebPage {
  readonly kind: 'page';
  readonly url: string;
  readonly status: number;
  /** The content type, as it came. */
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly cut: boolean;
}

/** Rejects only when the signal aborts. */
export type WebAccess = (
  url: string,
  signal: AbortSignal,
) => Promise<
  | WebPage
  | { readonly kind: 'elsewhere'; readonly url: string }
  | { readonly kind: 'refused'; readonly reason: string }
>;

export interface Shut {
  /** Globs below the root that are not searched, nor what lies below a match. */
  readonly globs: readonly string[];
  /** Asked again of each file that would be shown, by its path below the root. */
  readonly mayShow: (path: string) => boolean;
}

export interface SkillAccess {
  load(call: { readonly name: string; readonly arguments?: string | undefined }): ToolOutcome;
  /** Where a file is that one of them brings, by the path that it is told by; null when none does. */
  file(path: string): { readonly tree: TreeFiles; readonly path: string } | null;
}

export type ToolAccess =
  /** Changes nothing. */
  | 'read'
  /** Changes files of the tree. */
  | 'write'
  /** Asks other machines. */
  | 'net'
  /** Mail, tasks, actors. */
  | 'team'
  /** Starts a process. */
  | 'exec';

export interface Tool {
  readonly name: string;
  /** For models. */
  readonly description: string;
  readonly schema: z.ZodType;
  readonly where: 'thread' | 'supervisor';
  readonly access: ToolAccess;
  /** A reason to refuse the call before anyone is asked about it; null when there is none. */
  readonly check: (input: unknown, context: ToolContext) => string | null;
  /** Of tools of the thread. `input` has passed the schema. Rejects only when the signal aborts or on a bug. */
  readonly execute?: (
    input: unknown,
    context: ToolContext,
    signal: AbortSignal,
  ) => Promise<ToolOutcome>;
  /** Whether a call that was cut has had its effect. */
  readonly effect?: (input: unknown, context: ToolContext) => Promise<Effect>;
}

export interface ToolDefinition<Input> {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType<Input>;
  readonly access: ToolAccess;
  readonly check?: (input: Input, context: ToolContext) => string | null;
  readonly run?: (input: Input, context: ToolContext, signal: AbortSignal) => Promise<ToolOutcome>;
  readonly effect?: (input: Input, context: ToolContext) => Promise<Effect>;
}

/** With `run` a tool of the thread, without it one of the supervisor. */
export function makeTool<Input>(definition: ToolDefinition<Input>): Tool {
  const { name, description, schema, access, check, run, effect } = definition;
  return {
    name,
    description,
    schema,
    access,
    where: run === undefined ? 'supervisor' : 'thread',
    check: (input, context) => (check === undefined ? null : check(schema.parse(input), context)),
    ...(run === undefined
      ? {}
      : { execute: (input, context, signal) => run(schema.parse(input), context, signal) }),
    ...(effect === undefined
      ? {}
      : { effect: (input, context) => effect(schema.parse(input), context) }),
  };
}

export const failed = (text: string): ToolOutcome => ({ ok: false, text });
export const succeeded = (text: string): ToolOutcome => ({ ok: true, text });

/** Strict objects throughout: a parameter that nobody reads is an error, not a silent wish. */
export function parameters<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape);
}
