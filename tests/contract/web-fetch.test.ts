/** One page of the web, against a real server on loopback; only the test may dial it. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { isPublic } from '../../src/platform/addresses.ts';
import { fetchWeb, type WebDeps } from '../../src/platform/web-fetch.ts';
import { call, contextOf } from '../unit/tools/call.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(handler: RequestListener): Promise<number> {
  const server = createServer(handler);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const never = new AbortController().signal;
const HERE: Partial<WebDeps> = { resolve: async () => ['127.0.0.1'], mayDial: () => true };

test.each([
  'http://127.0.0.1/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f.0.0.1/',
  'http://0177.0.0.1/',
  'http://0.0.0.0/',
  'http://10.1.2.3/',
  'http://172.16.0.1/',
  'http://192.168.1.1/',
  'http://100.64.0.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://[fe80::1]/',
  'http://[fd00::1]/',
  'http://224.0.0.1/',
])('P40: %s is not dialled', async (url) => {
  const answer = await fetchWeb(url, never);
  expect(answer).toMatchObject({ kind: 'refused' });
  expect(answer.kind === 'refused' && answer.reason).toMatch(/which is not public$/);
});

test('P40: public addresses are, and what is no address is not', () => {
  expect(['93.184.215.14', '2606:4700::1111'].map(isPublic)).toEqual([true, true]);
  expect(['', 'localhost', '1.2.3.4.5', 'fe80::1%eth0'].map(isPublic)).toEqual(
    Array.from({ length: 4 }, () => false),
  );
});

test('P40: one inner address among public ones is enough, and it is asked once', async () => {
  let asked = 0;
  const resolve = async (): Promise<string[]> => {
    asked += 1;
    return ['93.184.215.14', '127.0.0.1'];
  };
  const answer = await fetchWeb('http://example.org/', never, { resolve });
  expect(answer).toEqual({
    kind: 'refused',
    reason: 'example.org leads to 127.0.0.1, which is not public',
  });
  expect(asked).toBe(1);
});

test('P40: a redirect is checked again on its host, and told of on another', async () => {
  let hits = 0;
  const port = await serve((request, response) => {
    hits += 1;
    const to = request.url === '/other' ? 'http://169.254.169.254/secret' : '/again';
    response.writeHead(302, { location: to }).end();
  });
  expect(await fetchWeb(`http://example.org:${port}/other`, never, HERE)).toEqual({
    kind: 'elsewhere',
    url: 'http://169.254.169.254/secret',
  });
  expect(await fetchWeb(`http://example.org:${port}/`, never, HERE)).toEqual({
    kind: 'refused',
    reason: 'it redirects more than 5 times',
  });
  expect(hits).toBe(7);
  let asked = 0;
  const rebinding = {
    resolve: async () => ['127.0.0.1'],
    mayDial: () => {
      asked += 1;
      return asked === 1;
    },
  };
  expect(await fetchWeb(`http://example.org:${port}/`, never, rebinding)).toMatchObject({
    kind: 'refused',
  });
  expect(hits).toBe(8);
});

test('a page is bounded in size and in time; the host is named to the server', async () => {
  const port = await serve((request, response) => {
    if (request.url === '/slow') return;
    response.writeHead(200, { 'content-type': 'text/plain' });
    if (request.url === '/host') response.end(request.headers.host);
    else response.end('x'.repeat(6 * 1024 * 1024));
  });
  const at = (path: string, deps = HERE) =>
    fetchWeb(`http://example.org:${port}${path}`, never, deps);
  const large = await at('/large');
  expect(large).toMatchObject({ kind: 'page', cut: true });
  expect(large.kind === 'page' && large.bytes.length).toBe(5 * 1024 * 1024);
  const host = await at('/host');
  expect(host.kind === 'page' && new TextDecoder().decode(host.bytes)).toBe(`example.org:${port}`);
  expect(await at('/slow', { ...HERE, timeoutMs: 50 })).toEqual({
    kind: 'refused',
    reason: 'no answer within 0.05 s',
  });
  const stop = new AbortController();
  const cut = fetchWeb(`http://example.org:${port}/slow`, stop.signal, HERE);
  stop.abort(new Error('stop'));
  await expect(cut).rejects.toThrow('stop');
});

test('web_fetch gives the text of a page, marked as untrusted, and refuses what is no text', async () => {
  const port = await serve((request, response) => {
    const [type, body] =
      request.url === '/bin'
        ? ['image/png', 'png']
        : request.url === '/latin'
          ? ['text/plain; charset=iso-8859-1', Buffer.from([0xe4])]
          : [
              'text/html; charset=utf-8',
              '<html><script>evil()</script><h1>Title</h1><p>One <b>two</b></p></html>',
            ];
    response.writeHead(request.url === '/gone' ? 404 : 200, { 'content-type': type }).end(body);
  });
  const web = (url: string, signal: AbortSignal) => fetchWeb(url, signal, HERE);
  const get = (path: string): Promise<string> =>
    call('web_fetch', { url: `http://example.org:${port}${path}` }, contextOf(null, { web }));
  expect(await get('/')).toBe(
    `[http://example.org:${port}/, status 200; untrusted content of the web follows]\nTitle\n\nOne two\n[end of untrusted content]`,
  );
  expect(await get('/gone')).toMatch(/^! \[.*status 404/);
  expect(await get('/latin')).toContain('\nä\n');
  expect(await get('/bin')).toContain('is no text: it is image/png');
  expect(await call('web_fetch', { url: 'file:///etc/passwd' }, contextOf(null))).toContain(
    '- url: ',
  );
  expect(await call('web_fetch', { url: 'http://a.b/' }, contextOf(null))).toContain('no way to');
});
