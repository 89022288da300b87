/** A unit for the service manager of a person's session, so that a supervisor is up from the login on. Pure. */

export interface UnitFacts {
  readonly platform: string;
  /** Absolute paths of Node and of `troupe`. */
  readonly node: string;
  readonly program: string;
  readonly workspace: string;
  readonly hash: string;
  readonly path: string;
}

export interface Unit {
  readonly kind: 'systemd' | 'launchd';
  /** Where it belongs. */
  readonly file: string;
  readonly text: string;
  /** What to type. */
  readonly how: string;
}

export function unitFor(facts: UnitFacts): Unit {
  return facts.platform === 'darwin' ? launchd(facts) : systemd(facts);
}

function systemd({ node, program, workspace, hash, path }: UnitFacts): Unit {
  const name = `troupe-${hash}.service`;
  const file = `~/.config/systemd/user/${name}`;
  const command = [node, program, '--workspace', workspace, 'up', '--foreground'];
  const text = `[Unit]
Description=Troupe supervisor of ${specifiers(workspace)}

[Service]
ExecStart=${command.map(quoted).join(' ')}
Environment=${quoted(`PATH=${path}`)}
# The parent in it starts the supervisor again; systemd starts the parent.
Restart=on-failure
RestartSec=10
KillMode=mixed
TimeoutStopSec=90

[Install]
WantedBy=default.target
`;
  const how = `Put it into ${file}, then: systemctl --user daemon-reload && systemctl --user enable --now ${name}`;
  return { kind: 'systemd', file, text, how };
}

const specifiers = (text: string): string => text.replaceAll('%', '%%').replaceAll('\n', ' ');
/** As systemd reads one argument. */
function quoted(text: string): string {
  const safe = specifiers(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return `"${safe.replaceAll('$', '$$$$')}"`;
}

function launchd({ node, program, workspace, hash, path }: UnitFacts): Unit {
  const label = `troupe.${hash}`;
  const file = `~/Library/LaunchAgents/${label}.plist`;
  const command = [node, program, '--workspace', workspace, 'up', '--foreground'];
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${escaped(label)}</string>
  <key>ProgramArguments</key>
  <array>
${command.map((part) => `    <string>${escaped(part)}</string>\n`).join('')}  </array>
  <key>EnvironmentVariables</key>
  <dict><key>PATH</key><string>${escaped(path)}</string></dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ExitTimeOut</key><integer>90</integer>
</dict>
</plist>
`;
  const how = `Put it into ${file}, then: launchctl bootstrap gui/$(id -u) ${file}`;
  return { kind: 'launchd', file, text, how };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
