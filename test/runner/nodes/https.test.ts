// Over TLS, in a process of its own: which certificates Node trusts is settled when it starts.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';
import { runProgram, temporaryFolder } from '../../rig/cli.ts';

const SEND_HTTP = fileURLToPath(new URL('../../../runner/nodes/send-http.ts', import.meta.url));

const ASK = `
import { sendHttp } from ${JSON.stringify(SEND_HTTP)};
const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
for (const url of process.argv.slice(2)) {
  const request = { method: 'GET', url, headers: {}, body: null, maxBytes: 100, timeoutMs: 10_000 };
  const answer = await sendHttp(request, { resolve, refuse: null }, new AbortController().signal);
  console.log(JSON.stringify({ ...answer, body: answer.body?.toString() }));
}`;

function certificateFor(host: string, folder: string) {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const named = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-days', '2', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...made, ...named, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  return { file: cert, key: readFileSync(key), cert: readFileSync(cert) };
}

test('over TLS the name is checked, not the address, and no redirect leads back to plain http', async () => {
  const folder = temporaryFolder();
  const { file, key, cert } = certificateFor('secure.test', folder);
  const server = createServer({ key, cert }, (request, response) => {
    if (request.url === '/down') response.writeHead(302, { location: 'http://secure.test/' });
    response.end('safe');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const program = join(folder, 'ask.mjs');
  writeFileSync(join(folder, 'ask.ts'), ASK);
  await build({
    entryPoints: [join(folder, 'ask.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
  const urls = [
    `https://secure.test:${port}/`,
    `https://other.test:${port}/`,
    `https://secure.test:${port}/down`,
  ];

  const trusting = await runProgram(program, urls, { env: { NODE_EXTRA_CA_CERTS: file } });
  const [answered, wrongName, downgraded] = trusting.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(answered).toMatchObject({ kind: 'answered', status: 200, body: 'safe' });
  expect(wrongName).toMatchObject({
    kind: 'failed',
    transient: false,
    error: expect.stringContaining('altnames'),
  });
  expect(downgraded).toMatchObject({ kind: 'failed', error: expect.stringContaining('from https to http') });

  const wary = await runProgram(program, urls.slice(0, 1));
  expect(JSON.parse(wary.stdout)).toMatchObject({
    kind: 'failed',
    transient: false,
    error: expect.stringContaining('self-signed'),
  });
});
