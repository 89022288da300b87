/** Units of service managers: paths with spaces, quotes and signs that mean something there. */
import { expect, test } from 'vitest';
import { unitFor } from '../../../src/cli/unit.ts';

const FACTS = {
  node: '/opt/node 20/bin/node',
  program: '/x/troupe.js',
  workspace: '/home/me/a "b" 100% $x & <c>',
  hash: 'abc',
  path: '/usr/bin:/bin',
};

test('systemd: one line, quoted, with what it would expand taken literally', () => {
  const { kind, text, how } = unitFor({ ...FACTS, platform: 'linux' });
  expect(kind).toBe('systemd');
  expect(text).toContain(
    'ExecStart="/opt/node 20/bin/node" "/x/troupe.js" "--workspace" "/home/me/a \\"b\\" 100%% $$x & <c>" "up" "--foreground"\n',
  );
  expect(text).toMatch(/^Restart=on-failure$/m);
  expect(how).toContain('systemctl --user enable --now troupe-abc.service');
});

test('launchd: XML with nothing unescaped', () => {
  const { kind, text } = unitFor({ ...FACTS, platform: 'darwin' });
  expect(kind).toBe('launchd');
  expect(text).toContain('<string>/home/me/a "b" 100% $x &amp; &lt;c&gt;</string>');
  expect(text).toContain('<string>--foreground</string>');
});
