/** The peers behind one interface: `send(text)` resolves when the peer calls the message stored. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { findProgram, installPackages, startServer } from './peer-tools.mjs';

const PACKAGES = ['better-sqlite3@12.11.1', 'redis@6.3.1', 'nats@2.29.3', 'proper-lockfile@4.1.2'];
const REDIS = {
  name: 'redis-server',
  packages: [
    'redis-server',
    'redis-tools',
    'liblzf1',
    'libjemalloc2',
    'liblua5.1-0',
    'lua-cjson',
    'lua-bitop',
    'libhiredis0.14',
  ],
};
const NATS = { name: 'nats-server', packages: ['nats-server'] };

/** Those that could be had; each `{name, durable, send, close}`. */
export async function openPeers(directory) {
  const load = await installPackages(path.join(directory, 'npm'), PACKAGES);
  if (load === null) return [];
  const peers = [lockfileInbox(directory, load)];
  for (const level of ['FULL', 'NORMAL']) peers.push(sqlite(directory, load, level));
  const redis = findProgram(path.join(directory, 'redis'), REDIS);
  for (const policy of redis === null ? [] : ['always', 'everysec']) {
    peers.push(await redisStream(directory, load, { program: redis, policy }));
  }
  const nats = findProgram(path.join(directory, 'nats'), NATS);
  if (nats !== null) peers.push(await jetStream(directory, load, nats));
  return peers;
}

/** One JSON array a mailbox, rewritten at each send under a lock file; nothing is synced. */
function lockfileInbox(directory, load) {
  const lockfile = load('proper-lockfile');
  const file = path.join(directory, 'inbox.json');
  fs.writeFileSync(file, '[]');
  const retries = { retries: 1000, factor: 1, minTimeout: 1, maxTimeout: 5 };
  return {
    name: 'JSON array inbox with a lock file',
    durable: false,
    send: async (text) => {
      const unlock = await lockfile.lock(file, { retries });
      const inbox = JSON.parse(await fs.promises.readFile(file, 'utf8'));
      inbox.push(JSON.parse(text));
      await fs.promises.writeFile(file, JSON.stringify(inbox));
      await unlock();
    },
    close: async () => undefined,
  };
}

/** All that wait in one tick go into one transaction. */
function sqlite(directory, load, level) {
  const Database = load('better-sqlite3');
  const database = new Database(path.join(directory, `mail-${level}.db`));
  database.pragma('journal_mode = WAL');
  database.pragma(`synchronous = ${level}`);
  database.exec(`CREATE TABLE mail (seq INTEGER PRIMARY KEY, box TEXT, seen INTEGER, text TEXT);
    CREATE INDEX by_box ON mail (box, seq); CREATE INDEX by_seen ON mail (box, seen);`);
  const insert = database.prepare('INSERT INTO mail (box, seen, text) VALUES (?, 0, ?)');
  const insertAll = database.transaction((batch) => {
    for (const { text } of batch) insert.run('ada', text);
  });
  let batch = [];
  const commit = () => {
    const taken = batch;
    batch = [];
    insertAll(taken);
    for (const { resolve } of taken) resolve();
  };
  return {
    name: `better-sqlite3 ${level}, batched`,
    durable: level === 'FULL',
    send: (text) =>
      new Promise((resolve) => {
        batch.push({ text, resolve });
        if (batch.length === 1) queueMicrotask(() => queueMicrotask(commit));
      }),
    close: async () => void database.close(),
  };
}

async function redisStream(directory, load, { program, policy }) {
  const data = path.join(directory, `redis-${policy}`);
  fs.mkdirSync(data);
  const args = ['--bind', '127.0.0.1', '--dir', data, '--save', '', '--appendonly', 'yes'];
  const server = await startServer(program, (port) => [
    ...args,
    '--port',
    String(port),
    '--appendfsync',
    policy,
  ]);
  const client = load('redis').createClient({ socket: { host: '127.0.0.1', port: server.port } });
  client.on('error', () => undefined);
  await client.connect();
  return {
    name: `Redis stream, appendfsync ${policy}`,
    durable: policy === 'always',
    send: (text) => client.xAdd('mail', '*', { text }),
    close: async () => {
      client.destroy();
      await server.stop();
    },
  };
}

async function jetStream(directory, load, program) {
  const data = path.join(directory, 'nats-data');
  const server = await startServer(program, (port) => [
    '-a',
    '127.0.0.1',
    '-p',
    String(port),
    '-js',
    '-sd',
    data,
  ]);
  const { connect } = load('nats');
  const connection = await connect({ servers: `127.0.0.1:${server.port}` });
  const manager = await connection.jetstreamManager();
  await manager.streams.add({ name: 'MAIL', subjects: ['mail.>'], storage: 'file' });
  const stream = connection.jetstream();
  const encoder = new TextEncoder();
  return {
    name: 'NATS JetStream, file, as it comes',
    durable: false,
    send: (text) => stream.publish('mail.ada', encoder.encode(text)),
    close: async () => {
      await connection.close();
      await server.stop();
    },
  };
}
