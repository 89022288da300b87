/** Shell programs from a seed: by a grammar that knows every way to hide a command, and as loose tokens. */

/** Names a policy allows, names it denies, and builtins that run what they are given. None is a program anywhere. */
export const ALLOWED: readonly string[] = ['aaa', 'bbb', 'ccc'];
export const DENIED: readonly string[] = ['zzz', 'yyy'];
const QUIET_BUILTINS = ['echo', 'true', 'printf', 'test', 'cd'];
const RUNNING_BUILTINS = [
  'eval',
  'exec',
  'command',
  'builtin',
  'trap',
  'source',
  '.',
  'alias',
  'declare',
  'export',
  'let',
  'printf -v',
  'unset',
  'read',
];

export interface Dice {
  /** In [0, 1). */
  next(): number;
}

export function seededDice(seed: number): Dice {
  let state = seed >>> 0;
  return {
    next() {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = state;
      t = Math.imul(t ^ (t >>> 15), t | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
    },
  };
}

export function program(dice: Dice): string {
  const kind = dice.next();
  if (kind < 0.15) return tokens(dice);
  // A small program has a chance to be allowed; a wild one to show what is missed.
  const maker = new Maker(dice, kind < 0.6 ? 0.04 : 0.35);
  const text = maker.list(2 + Math.floor(dice.next() * 2));
  return text + maker.flush();
}

const SOUP = [
  ' ',
  ' ',
  '\n',
  ';',
  '|',
  '||',
  '&&',
  '&',
  '(',
  ')',
  '{',
  '}',
  '$(',
  '`',
  '"',
  "'",
  '\\',
  '\\\n',
  '#',
  '<<E\n',
  'E\n',
  "<<'E'\n",
  '>f',
  '<f',
  '2>&1',
  '$((',
  '))',
  '${x:-',
  '[[',
  ']]',
  '!',
  'time ',
  'if',
  'then',
  'fi',
  'do',
  'done',
  'for x in',
  'case x in',
  'x)',
  'esac',
  '=',
  'x=',
  'a[',
  ']',
  '~',
  '*',
  '?',
  '\t',
  '\r',
  '\v',
  '$x',
  '$',
  '@',
  '<(',
  '>(',
  '|&',
  ';;',
  'coproc ',
  'function ',
  '-v',
  '--',
  '-',
];

function tokens(dice: Dice): string {
  const count = 2 + Math.floor(dice.next() * 10);
  let text = '';
  for (let at = 0; at < count; at += 1) {
    const roll = dice.next();
    text +=
      roll < 0.25
        ? pick(dice, ALLOWED)
        : roll < 0.4
          ? pick(dice, DENIED)
          : roll < 0.5
            ? pick(dice, QUIET_BUILTINS)
            : pick(dice, SOUP);
    if (dice.next() < 0.35) text += ' ';
  }
  return text;
}

function pick<T>(dice: Dice, all: readonly T[]): T {
  const found = all[Math.floor(dice.next() * all.length)];
  if (found === undefined) throw new Error('nothing to pick from');
  return found;
}

class Maker {
  private readonly dice: Dice;
  /** How often something stands there that is not plain. */
  private readonly wild: number;
  private bodies: string[] = [];
  private count = 0;

  constructor(dice: Dice, wild: number) {
    this.dice = dice;
    this.wild = wild;
  }

  private chance(share: number): boolean {
    return this.dice.next() < share;
  }

  private isWild(): boolean {
    return this.dice.next() < this.wild;
  }

  flush(): string {
    const text = this.bodies.length === 0 ? '' : `\n${this.bodies.join('')}`;
    this.bodies = [];
    return text;
  }

  list(depth: number): string {
    let text = this.andOr(depth);
    while (this.chance(0.35)) {
      const separator = this.isWild()
        ? pick(this.dice, [' & ', '\r;', ';\n#zzz\n', ' ;#\n'])
        : pick(this.dice, ['; ', '\n', ' ;', ' # it is zzz\n']);
      if (this.bodies.length > 0) text += this.flush();
      else text += separator;
      text += this.andOr(depth);
    }
    return text;
  }

  private andOr(depth: number): string {
    let text = this.pipeline(depth);
    while (this.chance(0.25))
      text += pick(this.dice, [' && ', ' || ', '&&', '||']) + this.pipeline(depth);
    return text;
  }

  private pipeline(depth: number): string {
    let text = this.isWild() ? pick(this.dice, ['! ', 'time ', 'time -p ', '! time ']) : '';
    text += this.command(depth);
    while (this.chance(0.15)) text += pick(this.dice, [' | ', ' |& ', '|']) + this.command(depth);
    return text;
  }

  private command(depth: number): string {
    if (depth <= 0) return this.simple(0);
    if (this.chance(0.07)) return `(${this.list(depth - 1)}${this.flush()})${this.redirects()}`;
    if (!this.isWild()) return this.simple(depth);
    const inner = (): string => this.list(depth - 1) + this.flush();
    switch (Math.floor(this.dice.next() * 11)) {
      case 0:
        return `{ ${inner()}\n}`;
      case 1:
        return `if ${inner()}\nthen ${inner()}\nfi`;
      case 2:
        return `for x in ${this.word(depth)} b; do ${inner()}\ndone`;
      case 3:
        return `while false || ${this.simple(0)}; do ${inner()}\nbreak; done`;
      case 4:
        return `case ${this.word(0)} in ${pick(this.dice, ['a', '*', '"$x"'])}) ${inner()}\n;; esac`;
      case 5:
        return `${pick(this.dice, ['f', 'aaa', 'function g'])}() { ${inner()}\n}; ${pick(this.dice, ['f', 'aaa'])}`;
      case 6:
        return `coproc ${this.simple(0)}`;
      case 7:
        return `[[ ${pick(this.dice, ['-v', '-n', '-z', '!'])} ${this.word(depth - 1)} ]]`;
      case 8:
        return `(( ${pick(this.dice, ['x', '1', 'a[$(zzz)]', '$(yyy)', 'x=1'])} ))`;
      case 9:
        return `a[${pick(this.dice, ['$(zzz)', '`yyy`', '1'])}]=${this.word(0)}`;
      default:
        return `${pick(this.dice, RUNNING_BUILTINS)} ${pick(this.dice, ['zzz', "'zzz'", '"yyy"', "'a[$(zzz)]'", "'a[$(zzz)]=1'", '-- zzz', 'aaa=zzz'])}`;
    }
  }

  private simple(depth: number): string {
    const before = this.isWild()
      ? `${pick(this.dice, ['x', 'PATH', 'LC_ALL', 'A', 'IFS'])}=${this.chance(0.3) ? this.expansion(depth) : this.word(0)} `
      : this.chance(0.05)
        ? 'LC_ALL=C '
        : '';
    let text = before + this.name();
    while (this.chance(0.5))
      text += (this.isWild() ? pick(this.dice, ['\t', ' \\\n', '  ']) : ' ') + this.word(depth);
    return text + this.redirects();
  }

  private name(): string {
    const roll = this.dice.next();
    const name =
      roll < 0.6
        ? pick(this.dice, ALLOWED)
        : roll < 0.75
          ? pick(this.dice, QUIET_BUILTINS)
          : roll < 0.87
            ? pick(this.dice, DENIED)
            : pick(this.dice, [
                'timeout 3 aaa',
                'timeout 3 zzz',
                'env zzz',
                'env aaa',
                'nice zzz',
                'xargs zzz',
                'command zzz',
                './aaa',
                '$x',
              ]);
    return /[ $/]/.test(name) ? name : this.spell(name);
  }

  /** The same word in other letters. */
  private spell(name: string): string {
    if (!this.chance(0.3)) return name;
    const cut = 1 + Math.floor(this.dice.next() * (name.length - 1));
    const [head, tail] = [name.slice(0, cut), name.slice(cut)];
    return pick(this.dice, [
      `'${name}'`,
      `"${name}"`,
      `${head}''${tail}`,
      `${head}\\${tail}`,
      `${head}\\\n${tail}`,
      `$'${name}'`,
      `$'\\x${name.charCodeAt(0).toString(16)}'${name.slice(1)}`,
      `"${head}"${tail}`,
      `\\${name}`,
    ]);
  }

  private word(depth: number): string {
    let text = this.part(depth);
    while (this.chance(0.2)) text += this.part(depth);
    return text;
  }

  private part(depth: number): string {
    if (this.isWild()) return this.expansion(depth);
    const inert = pick(this.dice, [
      'x',
      'a.ts',
      '-n',
      '--',
      'zzz',
      'src',
      '1',
      '-',
      'b=c',
      'if',
      'done',
      '}',
      '{',
      '!',
    ]);
    switch (Math.floor(this.dice.next() * 9)) {
      case 0:
        return `'${pick(this.dice, ['$(zzz)', '`zzz`', '; zzz', '"', 'a b', '#', '\\', '\n zzz\n', ''])}'`;
      case 1:
        return `"${pick(this.dice, ['; zzz', "'", 'a b', '#', '\\$(zzz)', '\\`zzz\\`', '', '\\"; zzz; \\"', '$HOME'])}"`;
      case 2:
        return pick(this.dice, ['*', '*.ts', '?', '[ab]', 'x*', '[!a]*']);
      case 3:
        return pick(this.dice, [
          '\\;',
          '\\ ',
          '\\$',
          '\\`',
          '\\(',
          '\\\n',
          '\\#',
          '\\&',
          '\\|',
          '\\<',
        ]);
      case 4:
        return pick(this.dice, [
          "$'\\n'",
          "$'a\\'b'",
          "$'; zzz'",
          "$'\\x24(zzz)'",
          "$'\\u0041'",
          "$'\\101'",
        ]);
      case 5:
        return pick(this.dice, [
          '~',
          '~/x',
          'a~',
          '#a',
          'a#b',
          '$HOME',
          '%',
          '@',
          '^',
          ',',
          'a=b',
          ':',
        ]);
      default:
        return inert;
    }
  }

  private expansion(depth: number): string {
    const inner = depth > 0 ? this.list(depth - 1) + this.flush() : this.simple(0);
    const name = pick(this.dice, [...DENIED, ...ALLOWED]);
    switch (Math.floor(this.dice.next() * 16)) {
      case 0:
        return `$(${inner})`;
      case 1:
        return `"$(${inner})"`;
      case 2:
        return `\`${name} x\``;
      case 3:
        return `"\`${name} 'x'\`"`;
      case 4:
        return `\${x:-$(${inner})}`;
      case 5:
        return `\${x:-$((${name}); # c )\n${name} v)}`;
      case 6:
        return `$(( 1 + $(${name}) ))`;
      case 7:
        return `$[ $(${name}) ]`;
      case 8:
        return `<(${inner})`;
      case 9:
        return `{${name},b}`;
      case 10:
        return `\${x@P}\${a[$(${name})]}`;
      case 11:
        return `$"a $(${name})"`;
      case 12:
        return `\${x/$(${name})/b}`;
      case 13:
        return `$x${pick(this.dice, ['', '[1]', '$(zzz)'])}`;
      case 14:
        return `"\${x:-\`${name}\`}"`;
      default:
        return `"\${x:+'$(${name})'}"`;
    }
  }

  private redirects(): string {
    if (this.isWild())
      return ` ${pick(this.dice, ['<<<', '>', '<', '{fd}>', '&>', '>&', '2>', '<>'])}${this.isWild() ? this.expansion(0) : 'f1'}`;
    if (!this.chance(0.12)) return '';
    if (this.chance(0.3)) return this.hereDoc();
    return ` ${pick(this.dice, ['>f1', '2>/dev/null', '2>&1', '>>f2', '>"f 3"', '1>&2', '</dev/null', '>|f1', '&>f1'])}`;
  }

  private hereDoc(): string {
    this.count += 1;
    const mark = `E${this.count}`;
    const quoted = !this.isWild();
    const body = pick(this.dice, [
      '$(zzz)\n',
      '`zzz`\n',
      "it's\n",
      '\n',
      '"\n',
      '${x:-$(yyy)}\n',
      'plain\n',
      '\\\n',
      `${mark} \n`,
      '(\n',
      'zzz\n',
    ]);
    const tabs = this.chance(0.3);
    this.bodies.push(`${tabs ? '\t' : ''}${body}${tabs ? '\t' : ''}${mark}\n`);
    return ` <<${tabs ? '-' : ''}${quoted ? pick(this.dice, [`'${mark}'`, `"${mark}"`, `\\${mark}`]) : mark}`;
  }
}
