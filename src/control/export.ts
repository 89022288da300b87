/**
 * `troupe export`: all that is known of one run as named texts, for a backup or a bug report. Read beside the writer, a piece
 * at a time, so that size costs no memory.
 *
 * Invariant: nothing leaves unredacted (E2); a secret that is split over two pieces is found.
 */
import { makeRedactStream } from '../events/index.ts';
import { systemCode } from '../kernel/errors.ts';
import { describeGap } from '../supervisor/index.ts';
import { EXPORT_PIECE_BYTES } from './limits.ts';
import { recordsOf } from './mail.ts';
import { runFolder } from './places.ts';
import { type RunView, rowOf, tasksOf, viewRun } from './queries.ts';
import type { Workspace } from './workspace.ts';

export interface ExportEntry {
  /** Path inside the export. */
  readonly name: string;
  readonly pieces: AsyncIterable<string>;
}

export interface RunExport {
  readonly run: string;
  /** It goes on: what comes later is not in it. */
  readonly alive: boolean;
  /** To be read one after the other, each to its end. */
  readonly entries: AsyncIterable<ExportEntry>;
}

/** Throws `control/unknown-run`. */
export async function exportRun(workspace: Workspace, run: string): Promise<RunExport> {
  const view = await viewRun(workspace, run, 'export');
  return { run: view.run, alive: view.liveness.alive, entries: entriesOf(workspace, view) };
}

async function* entriesOf(workspace: Workspace, view: RunView): AsyncGenerator<ExportEntry> {
  const { deps, places } = workspace;
  const folder = runFolder(places, view.run);
  yield { name: 'README.txt', pieces: once(readme(workspace, view)) };
  yield { name: 'run.json', pieces: once(pretty(view.redactor.data(view.file))) };
  yield { name: 'summary.json', pieces: once(pretty({ run: rowOf(view), tasks: tasksOf(view) })) };
  yield { name: 'journal.jsonl', pieces: journalLines(workspace, view) };
  for (const kind of ['outputs', 'blobs'] as const) {
    for (const name of await namesIn(workspace, `${folder}/${kind}`)) {
      const path = `${folder}/${kind}/${name}`;
      if ((await deps.files.stat(path))?.kind !== 'file') continue;
      yield { name: `${kind}/${name}`, pieces: textOf(workspace, view, path) };
    }
  }
}

function readme(workspace: Workspace, view: RunView): string {
  return [
    `Run ${view.run}, exported by Troupe ${workspace.deps.version}.`,
    'Secrets are taken out by known values and by their shape, so texts are not byte for byte what they were;',
    'look it through before you give it to others.',
    '',
    'run.json       the team as it was resolved, and where it began',
    'summary.json   the run and its tasks, as `troupe runs` and `troupe tasks` tell them',
    'journal.jsonl  every record of the run, in order (without the checksums, which hold for the originals)',
    'outputs/       what commands printed',
    'blobs/         texts over 64 KiB, by the digest that records name',
    ...view.gaps.map((gap) => `Damaged: ${describeGap(gap)}`),
    '',
  ].join('\n');
}

const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

async function* journalLines(workspace: Workspace, view: RunView): AsyncGenerator<string> {
  for await (const record of recordsOf(workspace, view.run)) {
    yield `${JSON.stringify(view.redactor.data(record))}\n`;
  }
}

async function namesIn(workspace: Workspace, folder: string): Promise<string[]> {
  try {
    return await workspace.deps.files.list(folder);
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}

async function* textOf(workspace: Workspace, view: RunView, path: string): AsyncGenerator<string> {
  const stream = makeRedactStream(view.redactor);
  const decoder = new TextDecoder();
  const handle = await workspace.deps.files.open(path, 'read');
  try {
    for (let at = 0; ; ) {
      const bytes = await handle.read(at, EXPORT_PIECE_BYTES);
      if (bytes.length === 0) break;
      at += bytes.length;
      yield stream.push(decoder.decode(bytes, { stream: true }));
    }
  } finally {
    await handle.close();
  }
  yield stream.push(decoder.decode()) + stream.end();
}
