/** P24: hosts that a person named are reached from the real sandbox, through the proxy, and nothing else is by any way. */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { type SandboxWorld, sandboxWorld } from '../../src/main/sandbox-world.ts';
import { openEgressProxy } from '../../src/platform/egress-proxy.ts';
import { NodeExec } from '../../src/platform/index.ts';
import { BRIDGE_PORT, bridgeScript } from '../../src/platform/sandbox-bridge.ts';
import { noSandboxHere } from '../support/sandbox-here.ts';

const missing = await noSandboxHere();
if (missing !== null)
  test.skip(`skipped: no sandbox can be made here (${missing})`, () => undefined);

const NAMES: Readonly<Record<string, readonly string[]>> = {
  'good.test': ['127.0.0.1'],
  'a.star.test': ['127.0.0.1'],
  'star.test': ['127.0.0.1'],
  'inner.test': ['10.0.0.9'],
  'half.test': ['93.184.215.14', '169.254.169.254'],
  localhost: ['127.0.0.1'],
};
let asked: string[] = [];
async function resolve(host: string): Promise<readonly string[]> {
  asked.push(host);
  const found = NAMES[host];
  if (found === undefined) throw new Error(`getaddrinfo ENOTFOUND ${host}`);
  return found;
}

async function serve(listener: RequestListener): Promise<{ server: Server; port: number }> {
  const server = createServer(listener);
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  return { server, port: (server.address() as AddressInfo).port };
}

function closed(server: Server): Promise<unknown> {
  server.closeAllConnections();
  return new Promise((done) => {
    server.close(done);
  });
}

/** What the proxy answers to these bytes. */
function talk(path: string, bytes: string): Promise<string> {
  return new Promise((done, fail) => {
    let text = '';
    const socket = connect(path, () => socket.write(bytes, 'latin1'));
    socket.on('data', (chunk) => {
      text += chunk.toString();
      if (text.startsWith('HTTP/1.1 200 Connection')) socket.destroy();
    });
    socket.on('error', fail);
    socket.on('close', () => {
      done(text);
    });
  });
}

describe('the proxy', () => {
  let far: Awaited<ReturnType<typeof serve>>;
  let seen: string[] = [];
  beforeAll(async () => {
    far = await serve((request, answer) => {
      let body = '';
      request.on('data', (chunk) => {
        body += String(chunk);
      });
      request.on('end', () => {
        seen.push(`${request.method} ${request.url} ${request.headers.host} ${body}`);
        answer.end(JSON.stringify(request.headers));
      });
    });
  });
  afterAll(() => closed(far.server));

  async function withProxy<T>(
    allow: readonly string[],
    use: (proxy: Awaited<ReturnType<typeof openEgressProxy>>) => Promise<T>,
  ): Promise<T> {
    const proxy = await openEgressProxy({ allow, resolve });
    try {
      asked = [];
      seen = [];
      return await use(proxy);
    } finally {
      await proxy.close();
      expect(existsSync(proxy.path)).toBe(false);
    }
  }
  const list = (): string[] => [
    `good.test:${far.port}`,
    `*.star.test:${far.port}`,
    `inner.test:${far.port}`,
    `half.test:${far.port}`,
    `127.0.0.1:${far.port}`,
  ];

  it.each([
    ['another host', 'evil.test', 'evil.test:PORT is not on the list'],
    ['a host that ends like one on the list', 'xgood.test', 'xgood.test:PORT is not on the list'],
    ['a host that begins like one', 'good.test.evil.test', 'is not on the list'],
    ['what stands behind the star alone', 'star.test', 'star.test:PORT is not on the list'],
    ['an address that leads inside', 'inner.test', 'leads to 10.0.0.9'],
    ['a host with one address inside', 'half.test', 'leads to 169.254.169.254'],
    ['the metadata of a cloud', '169.254.169.254', 'is not on the list'],
    ['loopback by another address', '127.0.0.2', 'is not on the list'],
    ['loopback by name', 'localhost', 'is not on the list'],
  ])('refuses %s, and tells the line to add', async (_what, host, why) => {
    await withProxy(list(), async (proxy) => {
      const at = `${host}:${far.port}`;
      const wanted = why.replace('PORT', String(far.port));
      const tunnel = await talk(proxy.path, `CONNECT ${at} HTTP/1.1\r\nHost: ${at}\r\n\r\n`);
      const plain = await talk(
        proxy.path,
        `GET http://${at}/ HTTP/1.1\r\nHost: good.test:${far.port}\r\nConnection: close\r\n\r\n`,
      );
      for (const said of [tunnel, plain]) {
        expect(said).toMatch(/^HTTP\/1.1 403 /);
        expect(said).toContain(wanted);
        expect(said).toContain('sandbox: { network: { allow: [');
      }
      expect(proxy.refused().map((one) => one.why)).toEqual([expect.stringContaining(wanted)]);
      expect(seen).toEqual([]);
    });
  });

  it.each([
    'good.test%00.evil.test:PORT',
    'good.test\\0:PORT',
    'good.test.:PORT',
    'good..test:PORT',
    'evil.test@good.test:PORT',
    'good.test:PORT:80',
    'good.test:0',
    'good.test:99999',
    'good.test',
    '0x7f.0.0.1:PORT',
    '127.1:PORT',
    '2130706433:PORT',
    '0177.0.0.1:PORT',
    '[::ffff:127.0.0.1]:PORT',
    '[::1%lo]:PORT',
    'gооd.test:PORT',
    '/etc/passwd',
    '',
  ])('refuses the odd spelling %j, and asks no name server', async (spelled) => {
    await withProxy(list(), async (proxy) => {
      const at = spelled.replace('PORT', String(far.port));
      const bytes = Buffer.from(at).toString('latin1');
      const said = await talk(
        proxy.path,
        `CONNECT ${bytes} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      );
      expect(said).not.toMatch(/^HTTP\/1.1 2/);
      expect(asked).toEqual([]);
      expect(seen).toEqual([]);
    });
  });

  it('a NUL, a second request in a body, and a false Host get no further', async () => {
    await withProxy(list(), async (proxy) => {
      const at = `good.test:${far.port}`;
      const nul = await talk(proxy.path, `CONNECT good.test\0.evil.test:443 HTTP/1.1\r\n\r\n`);
      expect(nul).not.toMatch(/^HTTP\/1.1 2/);
      const smuggled = 'GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n';
      const chunked = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
      await talk(
        proxy.path,
        `GET http://${at}/x HTTP/1.1\r\nHost: evil.test\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunked}`,
      );
      expect(seen).toEqual([`GET /x ${at} ${smuggled}`]);
    });
  });

  it('drops what is for the proxy alone, and passes bodies on', async () => {
    await withProxy(list(), async (proxy) => {
      const at = `a.star.test:${far.port}`;
      const said = await talk(
        proxy.path,
        `POST http://${at}?q=1 HTTP/1.1\r\nHost: ${at}\r\nProxy-Authorization: x\r\nX-Hop: y\r\nX-Kept: z\r\nConnection: close, X-Hop\r\nContent-Length: 4\r\n\r\nbody`,
      );
      expect(said).toMatch(/^HTTP\/1.1 200 /);
      expect(said).toContain('x-kept');
      expect(said).not.toMatch(/x-hop|proxy-authorization/);
      expect(seen).toEqual([`POST /?q=1 ${at} body`]);
      expect(asked).toEqual(['a.star.test']);
    });
  });

  it('localhost on the list names the loopback for that name only', async () => {
    await withProxy([`localhost:${far.port}`, `good.test:${far.port}`], async (proxy) => {
      const get = (host: string): Promise<string> =>
        talk(
          proxy.path,
          `GET http://${host}:${far.port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
        );
      expect(await get('localhost')).toMatch(/^HTTP\/1.1 200 /);
      expect(await get('good.test')).toMatch(/^HTTP\/1.1 403 /);
      expect(proxy.refused()).toEqual([
        { add: `127.0.0.1:${far.port}`, why: expect.stringContaining('not public') },
      ]);
    });
  });

  it('ports are those of the web where none is named', async () => {
    await withProxy(['good.test', '127.0.0.1'], async (proxy) => {
      const said = await talk(proxy.path, `CONNECT good.test:22 HTTP/1.1\r\n\r\n`);
      expect(said).toContain('good.test:22 is not on the list');
    });
  });
});

describe.skipIf(missing !== null)('a command with hosts', () => {
  let world: SandboxWorld;
  let far: Awaited<ReturnType<typeof serve>>;
  beforeAll(async () => {
    far = await serve((request, answer) => answer.end(`hello ${request.headers.host}`));
    const exec = new NodeExec({ onWorkerThread: true, resolve });
    world = await sandboxWorld(exec, process.env['PATH'] ?? '');
  });
  afterAll(async () => {
    await world.close();
    await closed(far.server);
  });
  const run = (command: string): ReturnType<SandboxWorld['run']> =>
    world.run(command.replaceAll('PORT', String(far.port)), {
      hosts: [`good.test:${far.port}`, `127.0.0.1:${far.port}`],
    });

  it('reaches them in plain and through a tunnel, by the proxy that its environment names', async () => {
    const done = await run(
      'curl -sS http://good.test:PORT/ && curl -sS --proxytunnel http://good.test:PORT/ && jobs && wait',
    );
    expect(done, done.text).toMatchObject({ code: 0, left: [], refused: [] });
    expect(done.text).toBe(`hello good.test:${far.port}`.repeat(2));
  });

  it('is refused others, and the end of the command names them', async () => {
    const done = await run('curl -sS http://evil.test/; curl -sS --max-time 5 https://other.test/');
    expect(done.text).toContain('evil.test is not on the list');
    expect(done.refused).toEqual([
      { add: 'evil.test', why: 'evil.test is not on the list' },
      { add: 'other.test', why: 'other.test is not on the list' },
    ]);
  });

  const node = (code: string): string =>
    `node -e '${code.replaceAll("'", `'\\''`)}; setTimeout(() => process.exit(1), 3000)'`;
  it.each([
    ['past the proxy', "env -u http_proxy curl -sS --noproxy '*' http://127.0.0.1:PORT/"],
    ['to another address', "curl -sS --noproxy '*' --max-time 5 http://1.1.1.1/"],
    [
      'by a name server of its own',
      node(
        'const { Resolver } = require("node:dns"); const r = new Resolver({ timeout: 500, tries: 1 }); r.setServers(["8.8.8.8"]); r.resolve4("example.com", (e) => process.exit(e ? 1 : 0))',
      ),
    ],
    ['by names of the system', 'getent ahosts example.com'],
    [
      'by datagrams',
      node(
        'const s = require("node:dgram").createSocket("udp4"); s.send("x", 53, "8.8.8.8", (e) => process.exit(e ? 1 : 0))',
      ),
    ],
    ['by the socket of the supervisor', 'curl -sS --unix-socket SOCKET http://x/'],
    ['by an abstract socket', 'socat -u OPEN:/dev/null ABSTRACT-CONNECT:troupe'],
    [
      'by a namespace of its parent',
      'nsenter --net=/proc/1/ns/net true && cat /proc/net/dev | grep eth',
    ],
  ])('reaches nothing %s', async (_how, command) => {
    const done = await run(command.replaceAll('SOCKET', world.socket));
    expect(done.code, done.text).not.toBe(0);
    expect(done.text).not.toContain('hello');
    expect(world.connections()).toBe(0);
  });

  it('sees no socket of the proxies of others', async () => {
    const other = await openEgressProxy({ allow: [], resolve });
    const done = await run('ls -d /tmp/troupe-net-* | wc -l');
    await other.close();
    expect(done.text.trim()).toBe('1');
  });

  it('has the same bridge by Node on a machine without socat', async () => {
    const proxy = await openEgressProxy({ allow: [], resolve });
    const script = `${bridgeScript(proxy.path, [])} curl -sS -x http://127.0.0.1:${BRIDGE_PORT} http://evil.test/`;
    const held = '--dev-bind / / --proc /proc --unshare-all --die-with-parent sh -c'.split(' ');
    const done = await promisify(execFile)('bwrap', [...held, script]);
    await proxy.close();
    expect(done.stdout).toContain('evil.test is not on the list');
  });

  it('does not start without its bridge', async () => {
    const script = `${bridgeScript('/nowhere', ['/nowhere']).replace(process.execPath, 'false')} echo started`;
    const held = '--dev-bind / / --proc /proc --unshare-all --die-with-parent sh -c'.split(' ');
    const env = { PATH: '/usr/bin:/bin' };
    // Its looks go by at once.
    const quick = script.replace(/'sleep' 0\.003/, ':');
    await expect(promisify(execFile)('bwrap', [...held, quick], { env })).rejects.toMatchObject({
      code: 125,
      stdout: '',
    });
  });

  it('ends at once with what it left in the background', async () => {
    const done = await run(
      'curl -sS --max-time 60 http://good.test:PORT/ >/dev/null & sleep 100 &',
    );
    expect(done).toMatchObject({ code: 0, left: [] });
  });

  it('a command of a person has the network as before, and no proxy', async () => {
    const done = await world.run('test -z "$http_proxy"', {
      profile: 'team',
      hosts: ['good.test'],
    });
    expect(done.code).toBe(0);
  });
});
