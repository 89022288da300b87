/**
 * A recorded run as a file that it can be played from: the answers of its journal, whole, with what people said and what
 * the runtime chose. With `redacted` no secret is in it, by known values and shapes (E2).
 */
import { mapTexts } from '../events/index.ts';
import { BlobStore, readJournal, wholeText } from '../journal/index.ts';
import { type ActorName, asActorName, USER } from '../kernel/ids.ts';
import type {
  CassetteHeader,
  CassetteLine,
  Mail,
  OrderedFact,
  StoredRunRecord,
  TaskChange,
} from '../protocol/index.ts';
import { wholeEntry } from '../sessions/index.ts';
import { branchRef, integrationBranch, readRef, treeOf } from '../worktree/index.ts';
import { errors } from './errors.ts';
import { readText } from './files.ts';
import { blobsFolder, journalFolder } from './places.ts';
import { isRunRecord, type RunView, viewRun } from './queries.ts';
import type { Workspace } from './workspace.ts';

export interface Cassette {
  readonly header: CassetteHeader;
  /** JSON lines: the header, then the entries. */
  readonly text: string;
}

/** Of a run that does not go on. Throws `control/unknown-run`, `control/running`. */
export async function recordingOf(
  workspace: Workspace,
  run: string,
  options: { readonly redacted: boolean },
): Promise<Cassette> {
  const view = await viewRun(workspace, run, 'replay');
  if (view.liveness.alive) throw errors.running(run);
  const reader = new Recording(workspace, view);
  const records = readJournal({
    files: workspace.deps.files,
    directory: journalFolder(workspace.places, run),
  });
  for await (const record of records) if (isRunRecord(record)) await reader.take(record);
  const { redacted } = options;
  const header = { ...reader.header(await treeAtEnd(workspace, view)), redacted };
  const parts: unknown[] = [header, ...reader.lines];
  const redactor = await workspace.redactor();
  const shown = redacted
    ? parts.map((part) => mapTexts(part, (text) => redactor.text(text)))
    : parts;
  return { header, text: `${shown.map((part) => JSON.stringify(part)).join('\n')}\n` };
}

/** A cassette that was exported. Throws `control/cassette`. */
export async function readCassette(workspace: Workspace, path: string): Promise<Cassette> {
  const text = await readText(workspace.deps.files, path).catch(() => null);
  if (text === null) throw errors.noRecording(path);
  try {
    const header = JSON.parse(text.split('\n', 1)[0] ?? '') as CassetteHeader;
    if (header.v === 1 && typeof header.cassette === 'string') return { header, text };
  } catch {
    // Said below.
  }
  throw errors.badCassette(path);
}

async function treeAtEnd(workspace: Workspace, view: RunView): Promise<string | null> {
  const { repository } = workspace;
  const tip =
    view.state.run.ended?.commit ??
    (await readRef(repository, branchRef(integrationBranch(view.run))));
  return tip === null ? null : treeOf(repository, tip).catch(() => null);
}

const FACTS: ReadonlyMap<TaskChange['type'], 'tree' | 'end'> = new Map([
  ['task.tree', 'tree'],
  ['task.released', 'end'],
  ['task.done', 'end'],
  ['task.failed', 'end'],
]);

type Failed = Extract<CassetteLine, { failed: string }>;

class Recording {
  readonly lines: CassetteLine[] = [];
  readonly #view: RunView;
  readonly #blobs: BlobStore;
  readonly #lives = new Map<string, number>();
  readonly #boxes = new Map<string, Mail[]>();
  readonly #order: OrderedFact[] = [];
  readonly #mail: CassetteHeader['words']['mail'][number][] = [];
  readonly #asks: Record<string, CassetteHeader['words']['asks'][string]> = {};
  readonly #plans: Record<string, CassetteHeader['words']['plans'][string]> = {};
  readonly #waiters = new Map<string, string[]>();
  readonly #proposals = new Map<string, string>();
  readonly #proposed = new Map<string, number>();

  constructor(workspace: Workspace, view: RunView) {
    const { files, sha256 } = workspace.deps;
    this.#view = view;
    this.#blobs = new BlobStore({
      files,
      directory: blobsFolder(workspace.places, view.run),
      hash: sha256,
    });
  }

  header(tree: string | null): Omit<CassetteHeader, 'redacted'> {
    const { file, state } = this.#view;
    const models = Object.values(file.team.agents).flatMap(({ name, model }) =>
      model === null ? [] : [[name, model] as const],
    );
    const answers = this.lines.filter((line) => 'entry' in line && line.entry.type === 'answer');
    return {
      v: 1,
      cassette: file.id,
      state: state.run.ended?.state ?? null,
      baseCommit: file.baseCommit,
      tree,
      createdAt: file.createdAt,
      places: { trees: file.treesRoot, workspace: file.workspace, home: file.home ?? null },
      models: { ...Object.fromEntries(models), '*': file.team.model ?? '' },
      answers: answers.length,
      actors: new Set(answers.map(({ a }) => a)).size,
      order: this.#order,
      words: { mail: this.#mail, asks: this.#asks, plans: this.#plans },
      run: file,
    };
  }

  async take(record: StoredRunRecord): Promise<void> {
    await this.#takeMail(record);
    for (const change of record.actors ?? []) {
      if (change.type !== 'actor.added') continue;
      this.#lives.set(change.name, (this.#lives.get(change.name) ?? 0) + 1);
    }
    this.#takeTasks(record);
    this.#takeWords(record);
    if (record.k === 'step' && record.a !== undefined) {
      for (const part of record.entries ?? []) {
        const entry = await wholeEntry(this.#blobs, part);
        this.lines.push({ a: record.a, ...this.#place(record, record.a), entry });
      }
    }
    const failed = this.#failureIn(record);
    if (failed !== null) this.lines.push(failed);
  }

  #place(record: StoredRunRecord, actor: ActorName): { life: number; seq: number } {
    return { life: this.#lives.get(actor) ?? 1, seq: record.s };
  }

  async #takeMail(record: StoredRunRecord): Promise<void> {
    const isOpening = record.run?.some(({ type }) => type === 'run.started') === true;
    for (const short of record.mail ?? []) {
      const mail = { ...short, body: { text: await wholeText(this.#blobs, short.body) } };
      const box = this.#boxes.get(mail.to) ?? [];
      box.push(mail);
      this.#boxes.set(mail.to, box);
      if (mail.from !== USER || mail.type !== 'chat.message' || isOpening) continue;
      this.#mail.push({ to: mail.to, text: mail.body.text });
    }
  }

  #takeTasks(record: StoredRunRecord): void {
    for (const change of record.tasks ?? []) {
      if (change.type === 'task.claimed') {
        const { id: task, by } = change;
        const act = record.a === undefined ? {} : { act: true as const };
        this.#order.push({ fact: 'claim', task, by, ...act });
        continue;
      }
      const fact = FACTS.get(change.type);
      if (fact !== undefined && 'id' in change) this.#order.push({ fact, task: change.id });
    }
  }

  /** What a person decided. */
  #takeWords(record: StoredRunRecord): void {
    for (const change of record.asks ?? []) {
      if (change.type === 'ask.put') this.#waiters.set(change.ask.id, [change.waiter.call]);
      else if (change.type === 'ask.joined') this.#waiters.get(change.id)?.push(change.waiter.call);
      else if (change.type === 'ask.answered' && !/^(?:grant:|rules$)/.test(change.by)) {
        const { effect, scope, reason } = change;
        for (const call of this.#waiters.get(change.id) ?? []) {
          this.#asks[call] = { effect, scope, reason };
        }
      }
    }
    for (const change of record.team ?? []) {
      if (change.type === 'plan.proposed') {
        const nth = (this.#proposed.get(change.by) ?? 0) + 1;
        this.#proposed.set(change.by, nth);
        this.#proposals.set(change.id, `${change.by} ${nth}`);
      } else if (change.type === 'plan.decided' && change.by === USER) {
        const { approve, feedback } = change;
        this.#plans[this.#proposals.get(change.id) ?? ''] = { approve, feedback };
      }
    }
  }

  /** A request that got no answer, as the record of what came of it tells. */
  #failureIn(record: StoredRunRecord): Failed | null {
    for (const change of record.tasks ?? []) {
      if (change.type !== 'task.released' && change.type !== 'task.failed') continue;
      const { kind, ref = '', text } = change.reason;
      if (kind !== 'agent' || !text.startsWith(`${ref}: `)) continue;
      return this.#failed(record, asActorName(ref), text.slice(ref.length + 2));
    }
    for (const change of record.actors ?? []) {
      if (change.type !== 'actor.ended' || change.end.kind !== 'stopped') continue;
      const [, text] = /^[a-z-]+\/[a-z-]+: ([^]*)$/.exec(change.end.text) ?? [];
      if (text !== undefined) return this.#failed(record, change.name, text);
    }
    const words = record.mail?.find(({ type }) => type === 'mail.dead')?.body.text ?? '';
    const unable = `${record.a ?? ''} could not answer its mail: `;
    if (record.k !== 'dead' || record.a === undefined || !words.startsWith(unable)) return null;
    return this.#failed(record, record.a, words.slice(unable.length));
  }

  #failed(record: StoredRunRecord, actor: ActorName, failed: string): Failed {
    const took = (record.dead ?? []).flatMap(({ n, what, to }) => {
      const letter = this.#boxes.get(actor)?.[n - 1];
      if (what !== 'dead' || (to ?? record.to) !== actor || letter === undefined) return [];
      const { from, type, task, body } = letter;
      return [{ from, type, ...(task === undefined ? {} : { task }), text: body.text }];
    });
    return { a: actor, ...this.#place(record, actor), failed, took };
  }
}
