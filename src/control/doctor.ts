/**
 * What is wrong with the journals, the mail and the settings of this repository, and what holds its commands, each thing by its place and with what to do about it.
 * Changes nothing, and may look while a supervisor writes.
 */

import {
  type JournalProblem,
  type JournalProblemKind,
  type KnownSeq,
  verifyJournal,
} from '../journal/index.ts';
import { counted } from '../kernel/counted.ts';
import { systemCode } from '../kernel/errors.ts';
import type { SandboxReport } from '../kernel/ports.ts';
import { readKnownSeq } from '../supervisor/index.ts';
import { examineCron } from './cron.ts';
import { examineConfig } from './doctor-config.ts';
import { examinePayloads } from './doctor-payloads.ts';
import { examineMemory, examinePolicies, examineRoom } from './doctor-policy.ts';
import { listFolder } from './files.ts';
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
    ...(
      await examineJournal(workspace, {
        check: 'workspace journal',
        directory: workspaceJournal,
        name: 'workspace',
        known: { seq: 0, from: '' },
      })
    ).findings,
  );
  for (const { code, message, hint } of (await listRunFiles(workspace)).damaged) {
    findings.push({ check: 'runs', ok: false, detail: `${message} (${code})`, repair: hint ?? '' });
  }
  for (const run of await runIds(workspace)) {
    const ofJournal = await examineJournal(workspace, {
      check: `journal of ${run}`,
      directory: journalFolder(places, run),
      name: run,
      known: await readKnownSeq(workspace.deps.files, runFolder(places, run)),
    });
    findings.push(...ofJournal.findings);
    if (!ofJournal.refused) findings.push(...(await payloads(workspace, run)));
  }
  findings.push(await examineSpool(workspace));
  findings.push(await examineRoom(workspace.deps, places.state));
  findings.push(...(await examineCron(workspace)));
  findings.push(...(await examineConfig(workspace.deps, places)));
  findings.push(...(await examinePolicies(workspace.deps, places)));
  findings.push(...(await examineMemory(workspace.deps, places)));
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
