// A process that writes a journal until it is stopped: eight senders, each told of durable records only. Prints one line
// for each: its seq and its text. `no-sync` leaves every sync out, which is the fault that a power cut must show.
import { writeSync } from 'node:fs';
import { openJournal } from '../../../dist/journal/journal.js';
import { CryptoRandom } from '../../../dist/platform/crypto-random.js';
import { NodeFiles } from '../../../dist/platform/node-files.js';
import { SystemClock } from '../../../dist/platform/system-clock.js';

const [directory, fault] = process.argv.slice(2);
const files = new NodeFiles();
if (fault === 'no-sync') {
  const open = files.open.bind(files);
  files.syncDirectory = async () => {};
  files.open = async (path, mode) => {
    const handle = await open(path, mode);
    handle.datasync = async () => {};
    return handle;
  };
}
const random = new CryptoRandom();
const journal = await openJournal({
  files,
  clock: new SystemClock(),
  random,
  directory,
  name: 'cut',
  // Small, so that new files and their entries are cut as well.
  limits: { segmentBytesMax: 64 * 1024, reserveBytes: 64 * 1024 },
});

async function sender(name) {
  for (let index = 0; ; index += 1) {
    const text = `${name}-${index}-${random.id(20 + Math.floor(random.next() * 400))}`;
    const { seq, durable } = journal.append({ k: 'msg', to: name, text });
    await durable;
    writeSync(1, `${seq} ${text}\n`);
  }
}

for (let count = 0; count < 8; count += 1) void sender(`sender-${count}`);
