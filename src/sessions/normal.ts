/**
 * A request as text in which only that differs which matters: what is told apart from run to run by nature has a name in
 * angle brackets. Pure.
 *
 * Invariants
 * - L30 Content is never left out: a rule below names a shape that a clock, a random source or a place on the disk makes,
 *   and everything else stays. The one exception is told in the text itself: what a command printed (`UNREPEATABLE`).
 */
import type { Message, UserBlock } from '../protocol/index.ts';

/** What is known of a run's own places; empty texts and null are passed over. */
export interface RunPlaces {
  readonly run: string;
  readonly trees: string;
  readonly workspace: string;
  readonly home: string | null;
}

/** Results that the world outside makes, or the moment: no two runs get the same. Whether they were good is compared. */
const UNREPEATABLE: ReadonlySet<string> = new Set([
  'bash',
  'bash_output',
  'bash_wait',
  'bash_kill',
  'web_fetch',
  'check_inbox',
  'team_status',
  'list_tasks',
  'get_task',
  'memory_read',
]);
/** In the view of the integration branch, which moves on while one looks. */
const UNREPEATABLE_IN_VIEW: ReadonlySet<string> = new Set([
  'read_file',
  'list_dir',
  'glob',
  'grep',
]);

function isRepeatable(tool: string, inTask: boolean): boolean {
  return !UNREPEATABLE.has(tool) && (inTask || !UNREPEATABLE_IN_VIEW.has(tool));
}

const ID = /\b(env|cal|prc|log)_[0-9a-z]{19}\b|\b(?:prc-\d+|env_[a-z0-9_-]+_\d+_\d+)\b/g;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)/g;
const COMMIT = /\b[0-9a-f]{40}\b/g;
const SHORT_COMMIT =
  /(?<![\w|<>])(commit |index |merged as |[|]{7} |>{7} |<{7} |Merge: |HEAD is now at |reset: moving to )[0-9a-f]{7,39}\b/g;
const DURATION = /\b\d+(?:\.\d+)?( ?)(ms|µs|ns|s|seconds?)\b/g;
const DURATION_KEY = /\b(duration_ms|durationMs|elapsed_ms):? \d+(?:\.\d+)?/g;
const MAIL = /\[mail #\d+ from /g;
const LETTER = /\(#\d+\)/g;

/** Ids that were minted in a run, as they stand in a text. */
export function mintedIds(text: string): string[] {
  return text.match(ID) ?? [];
}

export function normalText(text: string, places: RunPlaces): string {
  const named: readonly (readonly [string | null, string])[] = [
    [places.trees, '<trees>'],
    [places.workspace, '<workspace>'],
    [places.home, '<home>'],
  ];
  let shown = text;
  for (const [place, name] of named) {
    if (place !== null && place.length > 1) shown = shown.replaceAll(place, name);
  }
  if (places.run !== '') shown = shown.replaceAll(wordOf(places.run), '<run>');
  return shown
    .replaceAll(ID, (id) => `<${id.slice(0, 3)}>`)
    .replaceAll(TIME, '<time>')
    .replaceAll(COMMIT, '<commit>')
    .replaceAll(SHORT_COMMIT, '$1<commit>')
    .replaceAll(DURATION_KEY, '$1 <duration>')
    .replaceAll(DURATION, '<duration>$1$2')
    .replaceAll(MAIL, '[mail #<n> from ')
    .replaceAll(LETTER, '(#<n>)');
}

function wordOf(name: string): RegExp {
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![a-z0-9_-])${escaped}(?![a-z0-9_-])`, 'g');
}

export interface RenderOptions {
  readonly places: RunPlaces;
  /** The request is about a task, whose tree is its actor's alone. */
  readonly inTask: boolean;
  /** Calls that were cut in the recording: how far they came is an accident. */
  readonly cut?: ReadonlySet<string>;
}

/** One line of text after the other; equal when the requests say the same. */
export function normalMessages(messages: readonly Message[], options: RenderOptions): string {
  return messages
    .flatMap((message) =>
      message.role === 'assistant'
        ? ['assistant:', ...message.content.map((block) => said(block, options))]
        : ['user:', ...message.content.map((block) => heard(block, options))],
    )
    .join('\n');
}

function said(
  block: Extract<Message, { role: 'assistant' }>['content'][number],
  { places }: RenderOptions,
): string {
  if (block.type === 'text') return normalText(block.text, places);
  return `call ${block.name} ${normalText(JSON.stringify(block.input), places)}`;
}

function heard(block: UserBlock, options: RenderOptions): string {
  if (block.type === 'text') return normalText(block.text, options.places);
  const { call, tool, ok, text } = block;
  if (options.cut?.has(call) === true) return `result of ${tool}: cut`;
  const how = `result of ${tool}: ${ok ? 'ok' : 'failed'}`;
  if (!isRepeatable(tool, options.inTask)) return `${how} (what it says is not compared)`;
  return `${how}\n${normalText(text, options.places)}`;
}
