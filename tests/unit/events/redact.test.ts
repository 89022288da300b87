import { describe, expect, it } from 'vitest';
import {
  makeRedactor,
  makeRedactStream,
  SHAPES_ONLY,
  secretsOfEnvironment,
} from '../../../src/events/index.ts';
import { harmlessCorpus, mixed, privateKey, secretCorpus } from '../../support/secret-corpus.ts';

const placed = (around: string, secret: string): string => around.replace('@', () => secret);

describe('E2: shapes of secrets', () => {
  it('finds every secret of the corpus, and takes out no more than it', () => {
    const corpus = secretCorpus();
    expect(corpus.length).toBeGreaterThanOrEqual(60);
    const missed = corpus.filter(({ around, secret }) => {
      const shown = SHAPES_ONLY.text(placed(around, secret));
      return shown !== placed(around, '[redacted]');
    });
    expect(
      missed.map(({ name, around, secret }) => [name, SHAPES_ONLY.text(placed(around, secret))]),
    ).toEqual([]);
  });

  it('finds them in the middle of much text, and in JSON of JSON', () => {
    const filler = 'Lorem ipsum dolor sit amet. '.repeat(50);
    for (const { name, around, secret } of secretCorpus()) {
      const text = `${filler}\n${placed(around, secret)}\n${filler}`;
      expect(SHAPES_ONLY.text(text), name).not.toContain(secret);
    }
  });

  it('leaves what only looks like one as it is', () => {
    const corpus = harmlessCorpus();
    expect(corpus.length).toBeGreaterThanOrEqual(60);
    expect(corpus.map((text) => SHAPES_ONLY.text(text))).toEqual(corpus);
  });

  it.each(['', '   12| ', '+', '> '])(
    'takes out private keys whose lines begin with %j',
    (prefix) => {
      for (const kind of ['', 'RSA ', 'EC ', 'OPENSSH ', 'ENCRYPTED ']) {
        const { text, body } = privateKey(kind, prefix);
        for (const shown of [SHAPES_ONLY.text(text), SHAPES_ONLY.text(JSON.stringify(text))]) {
          for (const line of body) expect(shown).not.toContain(line);
        }
      }
    },
  );

  it('takes out what is there of a private key without its end, and nothing behind it', () => {
    const { text, body } = privateKey();
    const cut = text.slice(0, text.indexOf('-----END'));
    const shown = SHAPES_ONLY.text(`${cut}\nAnd then the tests were run.`);
    for (const line of body) expect(shown).not.toContain(line);
    expect(shown).toContain('And then the tests were run.');
  });

  it('changes nothing in what it has gone through', () => {
    for (const { around, secret } of secretCorpus()) {
      const once = SHAPES_ONLY.text(placed(around, secret));
      expect(SHAPES_ONLY.text(once)).toBe(once);
    }
  });
});

describe('E2: known values', () => {
  const secret = 'p"q\\w/e+r t~ü&9';
  const redactor = makeRedactor([secret]);

  it('are found raw, in JSON, in JSON in JSON, and in addresses', () => {
    const json = JSON.stringify({ k: secret });
    for (const text of [
      secret,
      json,
      JSON.stringify(json),
      encodeURIComponent(secret),
      encodeURIComponent(secret).toLowerCase().replaceAll('%c3%bc', '%c3%bc'),
      new URLSearchParams({ v: secret }).get('v') ?? '',
    ]) {
      expect(redactor.text(`a ${text} b`)).not.toContain(text.slice(5, -5));
    }
  });

  it('are found in base64 at every place', () => {
    for (const before of ['', 'x', 'xy', 'user:']) {
      for (const encoding of ['base64', 'base64url'] as const) {
        const text = Buffer.from(`${before}${secret}`).toString(encoding);
        const shown = redactor.text(`>${text}<`);
        expect(shown).toContain('[redacted]');
        expect(Buffer.from(shown, encoding).toString()).not.toContain(secret.slice(3, -3));
      }
    }
  });

  it('come from variables that are named like secrets and hold no ordinary word', () => {
    const value = mixed(20);
    expect(
      secretsOfEnvironment({
        MY_API_KEY: value,
        DB_PASSWORD: `${value}1`,
        GIT_AUTHOR_NAME: `${value}2`,
        SSH_AUTH_SOCK: '/tmp/ssh-abc/agent.1',
        TOKEN: 'development',
        KEYBOARD: `${value}3`,
        npm_config__authToken: `${value}4`,
      }),
    ).toEqual([value, `${value}1`, `${value}4`]);
  });
});

describe('E2: names of keys', () => {
  it('what stands under one goes, whatever it looks like', () => {
    const data = {
      password: 'tulip',
      headers: { Authorization: 'x', 'Set-Cookie': ['a', 'b'], accept: 'json' },
      env: [{ DB_PASS: 'rose', api_key: 'lily', maxTokens: 5, tokens: 7 }],
      tokenCount: 'many',
      token_url: 'https://x.example/y',
    };
    expect(SHAPES_ONLY.data(data)).toEqual({
      password: '[redacted]',
      headers: {
        Authorization: '[redacted]',
        'Set-Cookie': ['[redacted]', '[redacted]'],
        accept: 'json',
      },
      env: [{ DB_PASS: '[redacted]', api_key: '[redacted]', maxTokens: 5, tokens: 7 }],
      tokenCount: 'many',
      token_url: 'https://x.example/y',
    });
  });
});

it('E2: in a list of arguments, what comes after its option', () => {
  const argv = ['mysql', '--password', 'tulip', '-h', 'db'];
  expect(SHAPES_ONLY.data({ argv })).toEqual({
    argv: ['mysql', '--password', '[redacted]', '-h', 'db'],
  });
  const text = '["mysql","--password","tul1p-rose","-h"] [mysql, --password, tul1p-rose, -h]';
  expect(SHAPES_ONLY.text(text)).not.toContain('tul1p');
});

it('E2: what one string tells to be a secret is one in its neighbours, too', () => {
  const data = {
    command: 'x --password plum-4tree7',
    touches: ['reads ./plum-4tree7', 'reads ./plum'],
  };
  expect(SHAPES_ONLY.data(data)).toEqual({
    command: 'x --password [redacted]',
    touches: ['reads ./[redacted]', 'reads ./plum'],
  });
});

describe('E2: streams', () => {
  const texts = [
    ...secretCorpus().map(({ around, secret }) => ({
      text: `first ${placed(around, secret)} last`,
      parts: [secret],
    })),
    (({ text, body }) => ({ text: `here:\n${text}\nand on`, parts: body }))(privateKey()),
  ];

  it('a secret that is split at any place, or into single characters, is found', () => {
    for (const { text, parts } of texts) {
      for (let at = 1; at < text.length; at += 3) {
        const stream = makeRedactStream(SHAPES_ONLY);
        const shown = stream.push(text.slice(0, at)) + stream.push(text.slice(at)) + stream.end();
        for (const part of parts) expect(shown).not.toContain(part);
        expect(shown.startsWith(text.slice(0, 4))).toBe(true);
      }
      const stream = makeRedactStream(SHAPES_ONLY);
      const shown =
        text
          .split('')
          .map((char) => stream.push(char))
          .join('') + stream.end();
      for (const part of parts) expect(shown).not.toContain(part);
    }
  });

  it('gives on whole words at once, and everything at the end', () => {
    const stream = makeRedactStream(SHAPES_ONLY);
    expect(stream.push('The tests ')).toBe('The tests ');
    expect(stream.push('are gre')).toBe('are ');
    expect(stream.push('en.')).toBe('');
    expect(stream.end()).toBe('green.');
    expect(stream.push('again ')).toBe('again ');
  });

  it('a secret that is longer than the window does not come out behind it', () => {
    const stream = makeRedactStream(SHAPES_ONLY);
    const long = ['eyJ', mixed(20), '.', mixed(20), '.', mixed(40_000)].join('');
    let shown = stream.push('x ');
    for (let at = 0; at < long.length; at += 1_000)
      shown += stream.push(long.slice(at, at + 1_000));
    shown += stream.push(' and on ') + stream.end();
    expect(shown.includes(long.slice(-30))).toBe(false);
    expect(shown.slice(-100)).toContain('and on');
    expect(shown.length).toBeLessThan(200);
  });
});

describe('E5: time', () => {
  const units = [
    'eyJ-',
    'eyJaaaaaaaa.',
    'sk-',
    'sk-ant-',
    'bearer ',
    'Bearer a',
    'password',
    'password = ',
    'token:',
    'secret"',
    '://a:',
    '-----BEGIN RSA PRIVATE KEY-----',
    '-----BEGIN ',
    '-----END ',
    'cookie: a=',
    'cookie: a=bbbbbb; ',
    'curl -u a ',
    'curl ',
    'authorization: ',
    'a',
    ' ',
    '=',
    '\\',
    '"',
    'AKIA',
    'xox',
    'discord M',
    'MMMM.',
    '.atlasv1.',
    '8Q~',
    'api_key_',
    '1234567890:AA',
    'api-key="',
    "secret='aaaaaaa",
    '--password ',
    '--password,',
    'https://hooks.slack.com/services/',
  ];

  it('grows no faster than the text', () => {
    const took = (text: string): number => {
      const began = process.cpuUsage();
      SHAPES_ONLY.text(text);
      return process.cpuUsage(began).user / 1_000;
    };
    for (const unit of units) {
      const size = 16_000;
      took(unit.repeat(Math.ceil(size / unit.length)));
      const small = Math.min(
        ...[1, 2, 3].map(() => took(unit.repeat(Math.ceil(size / unit.length)))),
      );
      const large = Math.min(
        ...[1, 2].map(() => took(unit.repeat(Math.ceil((size * 8) / unit.length)))),
      );
      // Eight times the text: 64 times the time if it were quadratic.
      expect(large, unit).toBeLessThan(Math.max(small, 3) * 32);
    }
  });
});
