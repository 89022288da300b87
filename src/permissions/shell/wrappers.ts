/**
 * Programs that run what follows them: how each reads its own words, so that the command behind it is found.
 *
 * Invariants
 * - P11 A command behind wrappers is judged like one without; only few wrappers, without odd options, may be part of what a
 *   rule allows.
 */
import type { Arg } from './arg.ts';
import { NO_OPTIONS, type OptionGrammar, type Options, readOptions } from './options.ts';

export interface Wrapper {
  readonly grammar: OptionGrammar;
  /** Words of its own before the command. */
  readonly skips: number;
  /** `NAME=value` before the command. */
  readonly assigns: boolean;
  /** Options that may be there when a rule allows the command behind it; null: never. */
  readonly plain: ReadonlySet<string> | null;
}

/** By name. */
export const WRAPPERS: Map<string, Wrapper> = new Map();

function add(
  names: string,
  o: { values?: string; skips?: number; assigns?: boolean; plain?: string } = {},
): void {
  const values = (o.values ?? '').split(' ').filter((one) => one !== '');
  const wrapper: Wrapper = {
    grammar: {
      short: values.filter((one) => one.length === 1).join(''),
      long: new Set(values.filter((one) => one.length > 1)),
      stops: true,
    },
    skips: o.skips ?? 0,
    assigns: o.assigns ?? false,
    plain: o.plain === undefined ? null : new Set(o.plain.split(' ')),
  };
  for (const name of names.split(' ')) WRAPPERS.set(name, wrapper);
}

add('env', {
  values: 'u C S unset chdir split-string block-signal default-signal ignore-signal',
  assigns: true,
  plain: '',
});
add('timeout gtimeout', {
  values: 'k s kill-after signal',
  skips: 1,
  plain: 'k kill-after s signal foreground preserve-status v verbose',
});
add('nice', { values: 'n adjustment', plain: 'n adjustment 0 1 2 3 4 5 6 7 8 9' });
add('nohup', { plain: '' });
add('stdbuf', { values: 'i o e input output error', plain: 'i o e input output error' });
add('command', { plain: 'p' });
add('builtin', { plain: '' });
add('exec', { values: 'a' });
add('time', { values: 'f o format output' });
add('setsid caffeinate winpty', {});
add('ionice', { values: 'c n p P u class classdata pid pgid uid' });
add('chrt', { values: 'T P D sched-runtime sched-period sched-deadline', skips: 1 });
add('taskset', { values: '', skips: 1 });
add('flock', { values: 'w E c timeout conflict-exit-code command', skips: 1 });
add('watch', { values: 'n interval' });
add('xargs', {
  values:
    'a d E I L n P s arg-file delimiter eof max-lines max-args max-procs max-chars replace process-slot-var',
});
add('parallel', { values: 'j a I S jobs arg-file colsep delay timeout' });
add('sudo', {
  values:
    'u g h p C D R T U r t user group host prompt close-from chdir chroot other-user role type',
  assigns: true,
});
add('doas pkexec', { values: 'u C user' });
add('su runuser', {
  values: 'c g G s w u command group supp-group shell whitelist-environment user',
});
add('script', { values: 'c I O B T m o E command', skips: 0 });
add('strace ltrace', { values: 'a b e E I o O p P s S u U X' });
add('chroot', { values: 'userspec groups', skips: 1 });
add('unshare nsenter setpriv systemd-run proxychains proxychains4 torsocks dbus-run-session', {
  values: 't S G w wd p M setuid setgid root property unit',
});
add('faketime', { values: 'f', skips: 1 });
add('entr unbuffer rlwrap catchsegv valgrind ld.so linux64 linux32 setarch fakeroot', {});
add('npx pnpx bunx', { values: 'p c package call' });
add('busybox toybox', {});

export type Peeled =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'peeled';
      readonly argv: readonly Arg[];
      readonly own: Options;
      /** Whether it may be part of what a rule allows. */
      readonly plain: boolean;
      /** `NAME=value` words of `env`. */
      readonly assigned: readonly Arg[];
    };

export function isWrapper(name: string): boolean {
  return WRAPPERS.has(name) || name.startsWith('ld-');
}

/** The command behind `argv[0]`; `name` is its base name. */
export function peel(name: string, argv: readonly Arg[]): Peeled {
  const wrapper =
    WRAPPERS.get(name) ??
    (name.startsWith('ld-linux') || name.startsWith('ld-musl') ? LOADER : undefined);
  if (wrapper === undefined) return { kind: 'none' };
  const own = readOptions(argv.slice(1), wrapper.grammar);
  let rest = own.operands;
  const assigned: Arg[] = [];
  if (wrapper.assigns) {
    const start = rest.findIndex((arg) => !/^[A-Za-z_]\w*\+?=/.test(arg.text));
    assigned.push(...(start < 0 ? rest : rest.slice(0, start)));
    rest = start < 0 ? [] : rest.slice(start);
  }
  const skipped = rest.slice(0, wrapper.skips);
  rest = rest.slice(wrapper.skips);
  // `ionice -c2 ls`, `timeout 5 ls`: what is skipped is a number or a name, never a program of ours.
  const plain =
    wrapper.plain !== null &&
    !own.wild &&
    own.options.every((option) => wrapper.plain?.has(option.name) === true) &&
    (name !== 'timeout' || skipped.every((arg) => /^\d+(\.\d+)?[smhd]?$/.test(arg.text)));
  return { kind: 'peeled', argv: rest, own, plain, assigned };
}

const LOADER: Wrapper = {
  grammar: { ...NO_OPTIONS, stops: true },
  skips: 0,
  assigns: false,
  plain: null,
};
