/** `troupe policy check` and `troupe policy explain`. */
import {
  activeRules,
  type CallJudge,
  checkLines,
  type Explanation,
  explainCall,
  loadLayers,
  policyPlaces,
  readTrust,
  userConfigFolder,
} from '../../control/index.ts';
import { EXIT, type ExitCode, isTroupeError, TroupeError } from '../../kernel/errors.ts';
import { hashesOf, policyOf } from '../../permissions/index.ts';
import { hashOfFile, ownedByAdmin } from '../../platform/index.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { makeDisk, realFolder } from '../disk.ts';
import { tellWarning, usageError } from '../failure.ts';
import { flag, text } from '../options.ts';
import { safeLine } from '../text/safe.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const [action, call] = args;
  if (action !== 'check' && action !== 'explain') {
    throw usageError(
      `there is no \`policy ${action ?? ''}\``,
      'It is `policy check` or `policy explain`.',
    );
  }
  const { judge, forget } = await prepare(context, options);
  if (action === 'explain') {
    explain(context, judge, call);
    return EXIT.ok;
  }
  if (call !== undefined)
    throw usageError(
      '`policy check` reads calls from the standard input',
      'Try `troupe policy explain CALL`.',
    );
  await checkLines(process.stdin, judge, {
    fresh: forget,
    write: async (answers) => {
      context.print(answers);
      await context.io.out.flush();
    },
  });
  return EXIT.ok;
}

async function prepare(
  context: Context,
  options: OptionValues,
): Promise<{ readonly judge: CallJudge; readonly forget: (() => void) | null }> {
  const { io } = context;
  const { deps } = await context.machine();
  const absolute = (path: string): string => (path.startsWith('/') ? path : `${io.cwd}/${path}`);
  const asked = absolute(text(options, 'root') ?? io.cwd);
  const real = realFolder(asked);
  const root = real ?? asked;
  const home = text(options, 'home') ?? io.env['HOME'];
  const named = text(options, 'policy');
  const { snapshot, warnings } = await loadLayers(deps, {
    named: named === undefined ? null : { path: absolute(named), shown: named },
    places: policyPlaces({
      userConfig: userConfigFolder({ ...io.env, HOME: home ?? '/nonexistent' }),
      root,
      ownedByAdmin,
    }),
    isTrusted: named === undefined ? await trustIn(context, root) : () => false,
    team: null,
    pinned: (files) => Promise.resolve(hashesOf(root, files, { hash: hashOfFile })),
  });
  const policy = policyOf(snapshot);
  const pins = snapshot.pins;
  for (const message of warnings)
    tellWarning(io, new TroupeError({ code: 'cli/policy', message: `warning: ${message}` }));
  // A tree that is not there has no links: names stand for themselves.
  const disk = real === null ? null : makeDisk();
  return {
    forget: disk === null ? null : disk.forget,
    judge: {
      policy,
      context: {
        actor: text(options, 'actor') ?? 'actor',
        root,
        home: home === undefined ? null : absolute(home),
        attended: !flag(options, 'unattended'),
        resolve: disk?.resolve,
        // Of the files as they are now: what they were when a run began is for the run to know.
        pinsHold: (_rule, files) => files.every((file) => typeof pins[file] === 'string'),
      },
    },
  };
}

/** What was trusted in the repository that holds the tree; nothing, outside of one. */
async function trustIn(context: Context, root: string): Promise<(hash: string) => boolean> {
  const machine = await context.machine();
  try {
    const { deps, places } = await machine.openWorkspace(root);
    return (await readTrust(deps, places)).isTrusted;
  } catch (error) {
    if (isTroupeError(error)) return () => false;
    throw error;
  }
}

function explain(context: Context, judge: CallJudge, call: string | undefined): void {
  if (call === undefined) {
    const rules = activeRules(judge.policy, judge.context.actor);
    if (context.json) context.printJson(rules);
    else if (rules.length === 0) context.print('no rules\n');
    else
      context.print(
        rules
          .map(
            (rule) =>
              `${rule.effect.padEnd(5)} ${safeLine(rule.id)}  ${rule.tool}  (${safeLine(rule.from)})\n${
                rule.shadowedBy === null
                  ? ''
                  : `      never decides: ${safeLine(rule.shadowedBy)} is before it\n`
              }`,
          )
          .join(''),
      );
    return;
  }
  const explanation = explainCall(readCall(call), judge);
  if (context.json) context.printJson(explanation);
  else context.print(render(explanation));
}

/** JSON, or the text of a command. */
function readCall(text: string): { tool: string; input: unknown } {
  if (text.trimStart().startsWith('{')) {
    try {
      const value: unknown = JSON.parse(text);
      if (
        typeof value === 'object' &&
        value !== null &&
        'tool' in value &&
        typeof value.tool === 'string'
      ) {
        return { tool: value.tool, input: 'input' in value ? value.input : {} };
      }
    } catch {
      // No JSON after all: a group of commands begins with a brace too.
    }
  }
  return { tool: 'bash', input: { command: text } };
}

function render({ decision, from, mode, fallback }: Explanation): string {
  const { action, rule, reason, obligations, runs } = decision;
  const lines = [
    safeLine(`${action}, by ${rule}${from === null ? '' : ` (${from})`}: ${reason}`),
    `For want of a rule: ${fallback}${mode === null ? '' : `, mode ${mode}`}.`,
    ...(obligations.length === 0 ? [] : ['It does:']),
    ...obligations.map((one) => {
      const { kind, ...rest } = one;
      return `  ${safeLine(`${kind} ${Object.values(rest).flat().join(' ')}`)}`;
    }),
    ...(runs === null
      ? []
      : [
          'It would run:',
          ...runs
            .trimEnd()
            .split('\n')
            .map((line) => `  ${safeLine(line)}`),
        ]),
  ];
  return `${lines.join('\n')}\n`;
}
