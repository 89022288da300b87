/** A request of a replay beside the recorded one, which is built anew from the recorded transcript. Pure. */
import { mapTexts, REDACTED, SHAPES_ONLY } from '../../events/index.ts';
import type {
  ActorKind,
  Message,
  PlacedEntry,
  ProviderRequest,
  RequestMark,
} from '../../protocol/index.ts';
import {
  buildMessages,
  firstDifference,
  normalMessages,
  normalText,
  type RunPlaces,
} from '../../sessions/index.ts';
import { type Digest, RequestMarks } from '../request-mark.ts';
import { isCutByMail, type Step, type Track } from './track.ts';

export interface Comparing {
  readonly track: Track;
  readonly kind: ActorKind;
  /** A subagent's task. */
  readonly prompt: string | null;
  /** Of the run that is played now. */
  readonly places: RunPlaces;
  readonly digest: Digest;
}

export interface Difference {
  /** Where it is, in words: `its system prompt, line 3`. */
  readonly where: string;
  /** Both sides at that line; empty when there are no words to show. */
  readonly sides: string;
  /** Unified diff of the normalised texts round it. */
  readonly hunk: string;
  /** What the reader should know of the recorded side. */
  readonly note: string;
}

export function recordedPlaces({ header }: Pick<Track, 'header'>): RunPlaces {
  return { run: header.cassette, ...header.places };
}

/** Null: it says the same. */
export function compareRequest(
  about: Comparing,
  step: Step,
  request: ProviderRequest,
): Difference | null {
  return comparePrompt(about, step, request) ?? compareMessages(about, step, request);
}

function comparePrompt(about: Comparing, step: Step, request: ProviderRequest): Difference | null {
  const mark = step.answer?.request;
  if (mark === undefined) return null;
  const marks = new RequestMarks(about.digest, about.places);
  if (marks.promptOf(request) === mark.prompt) return null;
  const words = wordsOf(about.track, step, mark);
  if (words?.system === undefined) {
    const where = 'its system prompt or its tools';
    return { where, sides: '', hunk: '', note: 'The recording does not hold their words.' };
  }
  const clean = cleaner(about.track);
  const was = normalText(words.system, recordedPlaces(about.track));
  const found = differs(was, normalText(clean(request.system), about.places));
  if (found !== null) return shown('its system prompt', found);
  const names = request.tools.map((tool) => tool.name);
  const tools = firstDifference((words.tools ?? []).join('\n'), names.join('\n'));
  if (tools !== null) return shown('its tools', tools);
  if (about.track.header.redacted) return null;
  const where = 'the descriptions of its tools';
  return { where, sides: '', hunk: '', note: 'Another version of Troupe recorded it.' };
}

/** The newest record of the words that this prompt consists of. */
function wordsOf(track: Track, step: Step, mark: RequestMark): RequestMark | undefined {
  const upTo = track.steps.indexOf(step) + 1;
  return track.steps
    .slice(0, upTo)
    .map((one) => one.answer?.request)
    .findLast((one) => one?.prompt === mark.prompt && one.system !== undefined);
}

function compareMessages(
  about: Comparing,
  step: Step,
  request: ProviderRequest,
): Difference | null {
  const { track, places } = about;
  const recorded = rebuilt(about, step);
  const cut = new Set(
    [...track.results.values()]
      .filter((one) => one.interrupted !== undefined || isCutByMail(one))
      .map(({ call }) => call),
  );
  const options = { inTask: step.answer?.task !== null, cut };
  const was = normalMessages(recorded, { ...options, places: recordedPlaces(track) });
  const own = track.header.redacted
    ? (mapTexts(request.messages, (text) => SHAPES_ONLY.text(text)) as readonly Message[])
    : request.messages;
  const found = differs(was, normalMessages(own, { ...options, places }));
  if (found === null) return null;
  return { ...shown('its messages', found), note: exactness(about, step, recorded) };
}

/** A secret that was taken out by its value is known to whoever recorded it, and perhaps to nobody here. */
function differs(was: string, own: string): ReturnType<typeof firstDifference> {
  if (!was.includes(REDACTED)) return firstDifference(was, own);
  const recorded = was.split('\n');
  const lines = own.split('\n').map((line, at) => {
    const before = recorded[at] ?? '';
    return isSaidBy(before, line) ? before : line;
  });
  return firstDifference(was, lines.join('\n'));
}

/** Whether the line says what is left of the recorded one, in order. */
function isSaidBy(recorded: string, line: string): boolean {
  const pieces = recorded.split(REDACTED);
  const [first = '', last = ''] = [pieces[0], pieces.at(-1)];
  if (pieces.length === 1 || !line.startsWith(first) || !line.endsWith(last)) return false;
  let from = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const at = line.indexOf(piece, from);
    if (at < 0) return false;
    from = at + piece.length;
  }
  return from + last.length <= line.length;
}

function shown(what: string, found: NonNullable<ReturnType<typeof firstDifference>>): Difference {
  return {
    where: `${what}, line ${found.line}`,
    sides: `it was ${JSON.stringify(found.before)}, it is ${JSON.stringify(found.after)}`,
    hunk: found.hunk,
    note: '',
  };
}

function rebuilt({ track, kind, prompt }: Comparing, step: Step): Message[] {
  const entries: PlacedEntry[] = [];
  for (const line of track.lines) {
    if ('failed' in line || line.life !== step.life) continue;
    if (line.entry === step.answer) break;
    entries.push({ seq: line.seq, at: '', entry: line.entry });
  }
  return buildMessages(entries, { kind, firstPrompt: prompt });
}

function exactness(about: Comparing, step: Step, messages: readonly Message[]): string {
  const { header } = about.track;
  const answer = step.answer;
  if (header.redacted) return 'Secrets were taken out of the recording.';
  if (answer?.request === undefined) {
    return 'The recorded side is built anew from the transcript; its run kept no digests to check that by.';
  }
  const marks = new RequestMarks(about.digest, recordedPlaces(about.track));
  if (marks.newsOf({ messages, task: answer.task }) === answer.request.digest) return '';
  return 'The recorded side is built anew from the transcript, and is not exactly what was sent then.';
}

function cleaner({ header }: Track): (text: string) => string {
  return header.redacted ? (text) => SHAPES_ONLY.text(text) : (text) => text;
}
