// Records a page with Chromium. Used by scripts/record_browsers.sh:
//
//     node browser.mjs devtools|playwright|proxied URL OUT.har
//
// `devtools` opens Chromium's own developer tools on the page and lets their HAR
// exporter write the file; `playwright` is Playwright's `recordHar`; `proxied` only
// visits the page through the proxy PROXY and writes nothing.
//
// CHROMIUM is the browser, NODE_MODULES a folder with playwright-core and ws.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

const require = createRequire(path.resolve(process.env.NODE_MODULES ?? 'node_modules', '../x.js'));
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
];
const sleep = ms => new Promise(done => setTimeout(done, ms));

/** Asks until there is an answer, for 20 seconds. */
async function until(what, ask) {
  let last;
  for (let tries = 0; tries < 100; tries++) {
    const answer = await ask().catch(error => { last = error; });
    if (answer) return answer;
    await sleep(200);
  }
  throw new Error(`${what} did not happen in 20 s`, { cause: last });
}

async function playwright(url, out, proxy) {
  const { chromium } = require('playwright-core');
  const browser = await chromium.launch({
    executablePath, args: FLAGS,
    proxy: proxy && { server: proxy, bypass: '<-loopback>' },
  });
  const context = await browser.newContext(out ? { recordHar: { path: out, content: 'embed' } } : {});
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForFunction(() => document.title === 'done');
  await context.close();
  await browser.close();
}

/** A session of the DevTools protocol. */
async function connect(address) {
  const socket = new (require('ws'))(address, { maxPayload: 64 << 20 });
  await new Promise((done, failed) => socket.on('open', done).on('error', failed));
  const waiting = new Map();
  socket.on('message', text => {
    const { id, result, error } = JSON.parse(text);
    waiting.get(id)?.(error ? Promise.reject(new Error(error.message)) : result);
    waiting.delete(id);
  });
  let last = 0;
  const send = (method, params = {}) => new Promise(done => {
    waiting.set(++last, done);
    socket.send(JSON.stringify({ id: last, method, params }));
  });
  const evaluate = async expression => {
    const options = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await send('Runtime.evaluate', options);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  return { send, evaluate };
}

/** Whether the developer tools know the page. */
const ATTACHED = `(async () => {
  const sdk = await import('devtools://devtools/bundled/core/sdk/sdk.js');
  return Boolean(sdk.TargetManager.TargetManager.instance().primaryPageTarget());
})()`;

/** Runs in the page of the developer tools: their own modules, their own exporter. */
const EXPORT = `(async () => {
  const at = 'devtools://devtools/bundled/';
  const [har, logs, common] = await Promise.all(
    ['models/har/har.js', 'models/logs/logs.js', 'core/common/common.js'].map(name => import(at + name)));
  const requests = logs.NetworkLog.NetworkLog.instance().requests();
  const progress = new common.Progress.CompositeProgress(new common.Progress.Progress());
  // What "Export HAR (with sensitive data)" does: what must be left out is in it.
  return har.Writer.Writer.harStringForRequests(requests, { sanitize: false }, progress);
})()`;

async function devtools(url, out) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'record-'));
  const browser = spawn(executablePath, [
    '--headless=new', ...FLAGS, `--user-data-dir=${profile}`,
    '--remote-debugging-port=0', '--remote-allow-origins=*', 'about:blank',
  ], { stdio: 'ignore' });
  const ended = new Promise(done => browser.on('exit', done));
  try {
    const told = path.join(profile, 'DevToolsActivePort');
    const lines = await until('the start of Chromium', async () => {
      const lines = fs.readFileSync(told, 'utf8').split('\n');
      return lines.length > 1 && lines;
    });
    const host = `127.0.0.1:${lines[0]}`;
    const session = await connect(`ws://${host}${lines[1]}`);
    const { targetInfos } = await session.send('Target.getTargets');
    const page = targetInfos.find(target => target.type === 'page').targetId;
    const front = await session.send('Target.createTarget', {
      url: `devtools://devtools/bundled/devtools_app.html?ws=${host}/devtools/page/${page}&panel=network`,
    });
    const tools = await connect(`ws://${host}/devtools/page/${front.targetId}`);
    await until('the start of the developer tools', () => tools.evaluate(ATTACHED));
    await sleep(500); // of what they ask the page for, the network is not the first
    const target = await connect(`ws://${host}/devtools/page/${page}`);
    await target.send('Page.navigate', { url });
    await until('the end of the page', () => target.evaluate(`document.title === 'done'`));
    await sleep(500);
    fs.writeFileSync(out, await tools.evaluate(EXPORT));
    session.send('Browser.close');
    await Promise.race([ended, sleep(5000)]);
  } finally {
    browser.kill();
    await ended;
    // Processes of the browser may write a little longer.
    await until('the end of the profile', async () => {
      fs.rmSync(profile, { recursive: true, force: true });
      return true;
    });
  }
}

const [how, url, out] = process.argv.slice(2);
const ways = {
  devtools: () => devtools(url, out),
  playwright: () => playwright(url, out),
  proxied: () => playwright(url, undefined, process.env.PROXY),
};
if (!(how in ways) || !url) throw new Error('usage: browser.mjs devtools|playwright|proxied URL [OUT]');
await ways[how]();
process.exit(0);
