// Runs the command it is given beside a scorer and a webhook on this machine, and ends with its exit code.
//
//   node with-stand-ins.mjs COMMAND…         the port is 18640, or NEWS_PORT if that one is taken

import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const USUAL_PORT = '18640';
const port = process.env.NEWS_PORT ?? USUAL_PORT;
const place = `http://127.0.0.1:${port}`;

const server = createServer(async (request, response) => {
  const body = JSON.parse(await text(request));
  const answer = request.url === '/score' ? { score: scoreOf(body.url) } : hear(body.content);
  response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
});
server.on('error', (error) => {
  console.error(`the stand-ins cannot listen on port ${port} (${error.code}); choose another with NEWS_PORT`);
  process.exit(1);
});
server.listen(Number(port), '127.0.0.1', () => {
  const [program, ...args] = process.argv.slice(2);
  const elsewhere = port === USUAL_PORT ? [] : ['--set', `scorer=${place}`];
  const env = { ...process.env, DISCORD_WEBHOOK_URL_NEWS: `${place}/hook` };
  const child = spawn(program, [...args, ...elsewhere], { stdio: 'inherit', env });
  child.on('exit', (code) => process.exit(code ?? 1));
});

/** Links about water are worth the most. */
function scoreOf(link) {
  return /flood|river|water/.test(link) ? 9 : 3;
}

function hear(message) {
  console.log(`#news  ${message}`);
  return {};
}
