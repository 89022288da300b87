/**
 * What is wrong with what lies in this repository and on the machine for it, and with its settings, each thing by its place
 * and with what to do about it. May look while a supervisor writes.
 */

import {
  type JournalProblem,
  type JournalProblemKind,
  type KnownSeq,
  verifyJournal,
} from '../journal/index.ts';
import { counted } from '../kernel/counted.ts';
import { ensureError, isTroupeError, systemCode } from '../kernel/errors.ts';
import type { SandboxReport } from '../kernel/ports.ts';
import { readKnownSeq } from '../supervisor/index.ts';
import { examineCron } from './cron.ts';
import { examineConfig } from './doctor-config.ts';
import {
  lookAtCommands,
  lookAtLocks,
  lookAtParent,
  lookAtProcesses,
  lookAtSocket,
  lookAtTemporaries,
} from './doctor-machine.ts';
import { type DoctorMode, type Look, settleLooks, wrong } from './doctor-mend.ts';
import { examinePayloads } from './doctor-payloads.ts';
import { examineMemory, examinePolicies, examineRoom } from './doctor-policy.ts';
import { lookAtLeases, lookAtMail, lookAtViews } from './doctor-runs.ts';
import {
  lookAtBranches,
  lookAtGitLocks,
  lookAtStrayBranches,
  lookAtStrayTrees,
  lookAtTrees,
} from './doctor-trees.ts';
import { listFolder } from './files.ts';
import type { Finding } from './finding.ts';
import { journalFolder, runFolder } from './places.ts';
import { askLive, type LiveReport, livenessOf, loadRun, type RunView } from './queries.ts';
import { listRunFiles, readRunFile, runIds } from './run-store.ts';
import type { Workspace } from './workspace.ts';

/** Never throws for what is damaged; every check gives at least one finding. Changes nothing. */
export function examine(workspace: Workspace): Promise<Finding[]> {
  return examineAndMend(workspace, 'look');
}

/** S17. With `repair` what is safe is mended, while no supervisor is there. */
export async function examineAndMend(workspace: Workspace, mode: DoctorMode): Promise<Finding[]> {
  const { machine } = workspace.deps;
  const { places } = workspace;
  const locks =
    machine === undefined ? [] : await guarded('lock', () => lookAtLocks(workspace, machine));
  const report = await askLive(workspace).catch(() => NOBODY);
  // A lock that nobody can read keeps the doctor away too.
  const isFree = report.holder === null && locks.every(({ ok, mend }) => ok || mend !== undefined);
  const mayHold =
    mode === 'repair' &&
    report.holder === null &&
    (await workspace.deps.files.stat(places.state)) !== null;
  const held = mayHold ? await machine?.hold(places).catch(() => null) : null;
  try {
    const looks = [...locks, ...(await lookAtAll(workspace, held == null ? report : NOBODY))];
    const findings = await settleLooks(looks, {
      mode,
      refused: held != null || (mode !== 'repair' && isFree) ? null : refusal(report),
    });
    return (await workspace.redactor()).data(findings);
  } finally {
    await held?.release();
  }
}

const NOBODY: LiveReport = { holder: null, status: null };

function refusal({ holder }: LiveReport): string {
  if (holder === null) return 'The repository can not be locked, so nothing is mended.';
  return `Process ${holder.pid} works in this repository: when it has ended (\`troupe down\`), \`troupe doctor --repair\`.`;
}

async function lookAtAll(workspace: Workspace, report: LiveReport): Promise<Look[]> {
  const { places } = workspace;
  const { machine } = workspace.deps;
  const looks: Look[] = [];
  const workspaceJournal = `${places.state}/workspace/journal`;
  const ofWorkspace = await examineJournal(workspace, {
    check: 'workspace journal',
    directory: workspaceJournal,
    name: 'workspace',
    known: { seq: 0, from: '' },
  });
  looks.push(...ofWorkspace.findings);
  for (const { code, message, hint } of (await listRunFiles(workspace)).damaged) {
    looks.push({ check: 'runs', ok: false, detail: `${message} (${code})`, repair: hint ?? '' });
  }
  const views: RunView[] = [];
  for (const run of await runIds(workspace)) {
    const ofJournal = await examineJournal(workspace, {
      check: `journal of ${run}`,
      directory: journalFolder(places, run),
      name: run,
      known: await readKnownSeq(workspace.deps.files, runFolder(places, run)),
    });
    looks.push(...ofJournal.findings);
    if (ofJournal.refused) continue;
    const whole = ofJournal.findings.every(({ ok }) => ok);
    looks.push(...(await payloads(workspace, { run, whole })));
    const view = await viewOf(workspace, { run, report });
    if (view === null) continue;
    views.push(view);
    looks.push(...(await lookAtRun(workspace, { view, whole })));
  }
  looks.push(await examineSpool(workspace));
  looks.push(await examineRoom(workspace.deps, places.state));
  if (machine !== undefined) {
    looks.push(...(await guarded('socket', () => lookAtSocket(workspace, report))));
    looks.push(...(await guarded('parent', () => lookAtParent(workspace, machine, report))));
    const all = { views, report };
    looks.push(...(await guarded('processes', () => lookAtProcesses(workspace, machine, all))));
    looks.push(...(await lookAtTemporaries(workspace)));
    looks.push(...(await guarded('worktrees', () => lookAtStrayTrees(workspace, views))));
    looks.push(...(await guarded('branches', () => lookAtStrayBranches(workspace))));
    looks.push(...(await guarded('git locks', () => lookAtGitLocks(workspace, views))));
  }
  looks.push(...(await examineCron(workspace)));
  looks.push(...(await examineConfig(workspace.deps, places)));
  looks.push(...(await examinePolicies(workspace.deps, places)));
  looks.push(...(await examineMemory(workspace.deps, places)));
  const sandbox = await workspace.deps.sandbox?.(places);
  if (sandbox !== undefined) looks.push(sandboxFinding(sandbox));
  return looks;
}

async function lookAtRun(
  workspace: Workspace,
  { view, whole }: { readonly view: RunView; readonly whole: boolean },
): Promise<Look[]> {
  const { machine } = workspace.deps;
  const { run } = view;
  // What is lost of the journal can't be told from what is wrong beside it.
  if (!whole || machine === undefined) return [];
  return [
    ...(await guarded(`views of ${run}`, () => lookAtViews(workspace, view))),
    ...lookAtMail(view),
    ...lookAtLeases(view),
    ...(await guarded(`worktrees of ${run}`, () => lookAtTrees(workspace, view))),
    ...(await guarded(`branches of ${run}`, () => lookAtBranches(workspace, view))),
    ...(await guarded(`background commands of ${run}`, () =>
      lookAtCommands(workspace, machine, view),
    )),
  ];
}

/** Null when it can't be read, which has been said by then. */
async function viewOf(
  workspace: Workspace,
  { run, report }: { readonly run: string; readonly report: LiveReport },
): Promise<RunView | null> {
  try {
    const file = await readRunFile(workspace, run);
    // A supervisor that does not answer may hold any of them.
    return await loadRun(workspace, file, livenessOf(report, run, true));
  } catch {
    return null;
  }
}

/** One look that fails hides none of the others. */
async function guarded(check: string, look: () => Promise<Look[]>): Promise<Look[]> {
  try {
    return await look();
  } catch (thrown) {
    return [
      wrong(check, `it can not be looked at: ${ensureError(thrown).message}`, hintOf(thrown)),
    ];
  }
}

function hintOf(thrown: unknown): string {
  return isTroupeError(thrown) ? (thrown.hint ?? '') : '';
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

async function payloads(
  workspace: Workspace,
  of: { readonly run: string; readonly whole: boolean },
): Promise<Look[]> {
  try {
    return await examinePayloads(workspace, of);
  } catch (error) {
    if (systemCode(error) === '') throw error;
    const detail = `they cannot be read: ${String(error)}`;
    return [
      { check: `payloads of ${of.run}`, ok: false, detail, repair: 'Make them readable for you.' },
    ];
  }
}

interface JournalPlace {
  readonly check: string;
  readonly directory: string;
  readonly name: string;
  readonly known: KnownSeq;
}

interface JournalFindings {
  readonly findings: readonly Finding[];
  /** Nothing reads it: it is of a newer version, or of another run. */
  readonly refused: boolean;
}

async function examineJournal(workspace: Workspace, place: JournalPlace): Promise<JournalFindings> {
  const { files } = workspace.deps;
  const { check, directory, name, known } = place;
  const finding = (ok: boolean, detail: string, repair = ''): Finding => ({
    check,
    ok,
    detail,
    repair,
  });
  try {
    // Before the first run there is none, which is in order.
    if ((await files.stat(directory)) === null && known.seq === 0) {
      return { findings: [finding(true, 'there is none yet')], refused: false };
    }
    const report = await verifyJournal({ files, directory, name, known });
    const findings = report.problems.map((problem) => {
      const { ok, repair } = MEANINGS[problem.kind];
      return finding(ok, `${placeOf(problem)}${problem.detail}`, repair);
    });
    for (const kept of await listFolder(files, directory)) {
      if (!kept.startsWith('torn-')) continue;
      findings.push(
        finding(
          true,
          `${kept}: set aside by an earlier start, which found no word that it was acknowledged`,
        ),
      );
    }
    if (findings.every(({ ok }) => ok)) {
      findings.unshift(
        finding(
          true,
          `${counted(report.records, 'record')} in ${counted(report.segments, 'file')}`,
        ),
      );
    }
    return { findings, refused: report.problems.some(({ kind }) => REFUSED.has(kind)) };
  } catch (error) {
    if (systemCode(error) === '') throw error;
    const detail = `it cannot be read: ${String(error)}`;
    return { findings: [finding(false, detail, 'Make it readable for you.')], refused: true };
  }
}

function placeOf({ file, line }: JournalProblem): string {
  return file === '' ? '' : `${file}:${line}: `;
}

const LOST =
  'Nothing brings them back but a copy of the file: put one in its place. Without one the rest is used as it is.';

const REFUSED: ReadonlySet<JournalProblemKind> = new Set(['foreign-log', 'newer-version']);

const MEANINGS: Readonly<Record<JournalProblemKind, { ok: boolean; repair: string }>> = {
  'torn-tail': { ok: true, repair: 'The next start of the run sets it aside.' },
  'no-line-feed': { ok: true, repair: 'The next start of the run mends it.' },
  'line-endings': { ok: true, repair: 'Keep the tool that rewrites line ends away from .git.' },
  gap: { ok: false, repair: LOST },
  junk: { ok: false, repair: 'No record is lost; what should not be there is passed over.' },
  'foreign-log': {
    ok: false,
    repair: 'Move the file out, and put the right one in its place if it was taken away.',
  },
  'newer-version': { ok: false, repair: 'Use the newer Troupe that wrote it.' },
  missing: { ok: false, repair: LOST },
};

async function examineSpool(workspace: Workspace): Promise<Finding> {
  const { files } = workspace.deps;
  const { spool } = workspace.places;
  const waiting = (await listFolder(files, spool)).filter((name) => name.endsWith('.json'));
  const refused = await listFolder(files, `${spool}/refused`);
  if (refused.length === 0) {
    const detail =
      waiting.length === 0
        ? 'no mail waits'
        : waiting.length === 1
          ? '1 letter waits'
          : `${waiting.length} letters wait`;
    return { check: 'spool', ok: true, detail, repair: '' };
  }
  return {
    check: 'spool',
    ok: false,
    detail: `letters that could not be taken in: ${refused.join(', ')}`,
    repair: `Read them in ${spool}/refused, send again what matters, and remove them there.`,
  };
}
