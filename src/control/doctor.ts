/**
 * What is wrong with the journals, the mail and the settings of this repository, and what holds its commands, each thing by its place and with what to do about it.
 * Changes nothing, and may look while a supervisor writes.
 */
import { type JournalProblem, type JournalProblemKind, verifyJournal } from '../journal/index.ts';
import { systemCode } from '../kernel/errors.ts';
import type { SandboxReport } from '../kernel/ports.ts';
import { examineConfig } from './doctor-config.ts';
import { examinePayloads } from './doctor-payloads.ts';
import { listFolder, readText } from './files.ts';
import type { Finding } from './finding.ts';

import { journalFolder, runFolder } from './places.ts';
import { listRunFiles, runIds } from './run-store.ts';
import type { Workspace } from './workspace.ts';

/** Never throws for what is damaged; every check gives at least one finding. */
export async function examine(workspace: Workspace): Promise<Finding[]> {
  const { places } = workspace;
  const findings: Finding[] = [];
  const workspaceJournal = `${places.state}/workspace/journal`;
  findings.push(
    ...(await examineJournal(workspace, {
      check: 'workspace journal',
      directory: workspaceJournal,
      name: 'workspace',
      knownSeq: { seq: 0, from: '' },
    })),
  );
  for (const { code, message, hint } of (await listRunFiles(workspace)).damaged) {
    findings.push({ check: 'runs', ok: false, detail: `${message} (${code})`, repair: hint ?? '' });
  }
  for (const run of await runIds(workspace)) {
    findings.push(
      ...(await examineJournal(workspace, {
        check: `journal of ${run}`,
        directory: journalFolder(places, run),
        name: run,
        knownSeq: await knownSeq(workspace, run),
      })),
    );
    findings.push(...(await payloads(workspace, run)));
  }
  findings.push(await examineSpool(workspace));
  findings.push(...(await examineConfig(workspace.deps, places)));
  const report = await workspace.deps.sandbox?.(places);
  if (report !== undefined) findings.push(sandboxFinding(report));
  return (await workspace.redactor()).data(findings);
}

/** A machine without a sandbox is in order; what it would take to have one is said. */
export function sandboxFinding({ level, detail, install }: SandboxReport): Finding {
  const without = level === 0 ? '; commands of agents run with your rights' : '';
  return {
    check: 'sandbox',
    ok: true,
    detail: `level ${level}: ${detail}${without}`,
    repair: install === null ? '' : `To have one: ${install}`,
  };
}

async function payloads(workspace: Workspace, run: string): Promise<Finding[]> {
  try {
    return await examinePayloads(workspace, run);
  } catch (error) {
    if (systemCode(error) === '') throw error;
    const detail = `they cannot be read: ${String(error)}`;
    return [
      { check: `payloads of ${run}`, ok: false, detail, repair: 'Make them readable for you.' },
    ];
  }
}

interface JournalPlace {
  readonly check: string;
  readonly directory: string;
  readonly name: string;
  /** Highest seq that something beside the journal says was recorded; these are written after the record is durable. */
  readonly knownSeq: KnownSeq;
}

interface KnownSeq {
  readonly seq: number;
  readonly from: string;
}

async function examineJournal(workspace: Workspace, place: JournalPlace): Promise<Finding[]> {
  const { files } = workspace.deps;
  const { check, directory, name, knownSeq } = place;
  const finding = (ok: boolean, detail: string, repair = ''): Finding => ({
    check,
    ok,
    detail,
    repair,
  });
  try {
    // Before the first run there is none, which is in order.
    if ((await files.stat(directory)) === null && knownSeq.seq === 0) {
      return [finding(true, 'there is none yet')];
    }
    const report = await verifyJournal({ files, directory, name });
    const findings = report.problems.map((problem) => {
      const { ok, repair } = MEANINGS[problem.kind];
      return finding(ok, `${placeOf(problem)}${problem.detail}`, repair);
    });
    if (knownSeq.seq > report.lastSeq) {
      const last = `the journal ends at record ${report.lastSeq}`;
      const detail = `${last}, ${knownSeq.from} tells of record ${knownSeq.seq}: what is between is lost`;
      findings.push(finding(false, detail, LOST));
    }
    for (const kept of await listFolder(files, directory)) {
      if (!kept.startsWith('torn-')) continue;
      findings.push(finding(true, `${kept}: cut off by an earlier start, never acknowledged`));
    }
    if (findings.every(({ ok }) => ok)) {
      findings.unshift(finding(true, `${report.records} records in ${report.segments} files`));
    }
    return findings;
  } catch (error) {
    if (systemCode(error) === '') throw error;
    return [finding(false, `it cannot be read: ${String(error)}`, 'Make it readable for you.')];
  }
}

function placeOf({ file, line }: JournalProblem): string {
  return file === '' ? '' : `${file}:${line}: `;
}

const LOST =
  'Nothing brings them back but a copy of the file: put one in its place. Without one the rest is used as it is.';

const MEANINGS: Readonly<Record<JournalProblemKind, { ok: boolean; repair: string }>> = {
  'torn-tail': { ok: true, repair: 'The next start of the run sets it aside.' },
  'no-line-feed': { ok: true, repair: 'The next start of the run mends it.' },
  'line-endings': { ok: true, repair: 'Keep the tool that rewrites line ends away from .git.' },
  gap: { ok: false, repair: LOST },
  junk: { ok: false, repair: 'No record is lost; what should not be there is passed over.' },
  'foreign-log': { ok: false, repair: 'Move the file out: it belongs to another journal.' },
  'newer-version': { ok: false, repair: 'Use the newer Troupe that wrote it.' },
  missing: { ok: false, repair: LOST },
};

/** Views and snapshots are written when their record is durable, so they tell of a journal that was cut at its end. */
async function knownSeq(workspace: Workspace, run: string): Promise<KnownSeq> {
  const { files } = workspace.deps;
  const folder = runFolder(workspace.places, run);
  let known: KnownSeq = { seq: 0, from: '' };
  const note = (seq: number, from: string): void => {
    if (Number.isSafeInteger(seq) && seq > known.seq) known = { seq, from };
  };
  for (const kind of ['mailboxes', 'sessions']) {
    for (const name of await listFolder(files, `${folder}/views/${kind}`)) {
      const path = `views/${kind}/${name}`;
      const text = (await readText(files, `${folder}/${path}`)) ?? '';
      note(lastSeqIn(text), path);
    }
  }
  for (const name of await listFolder(files, `${folder}/snapshots`)) {
    if (name.endsWith('.snap')) note(Number(name.slice(0, -5)), `snapshots/${name}`);
  }
  return known;
}

/** Of a view: one JSON object with its `seq` a line. The last line may be cut. */
function lastSeqIn(text: string): number {
  for (const line of text.trimEnd().split('\n').slice(-2).toReversed()) {
    const seq = /"seq":(\d+)/.exec(line)?.[1];
    if (seq !== undefined) return Number(seq);
  }
  return 0;
}

async function examineSpool(workspace: Workspace): Promise<Finding> {
  const { files } = workspace.deps;
  const { spool } = workspace.places;
  const waiting = (await listFolder(files, spool)).filter((name) => name.endsWith('.json'));
  const refused = await listFolder(files, `${spool}/refused`);
  if (refused.length === 0) {
    const detail = waiting.length === 0 ? 'no mail waits' : `${waiting.length} letters wait`;
    return { check: 'spool', ok: true, detail, repair: '' };
  }
  return {
    check: 'spool',
    ok: false,
    detail: `letters that could not be taken in: ${refused.join(', ')}`,
    repair: `Read them in ${spool}/refused, send again what matters, and remove them there.`,
  };
}
