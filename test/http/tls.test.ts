import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSecretFile, CredentialError } from '../../src/http/credentials.js';
import { createTlsAgent, type TlsFiles } from '../../src/http/tls.js';
import { ManualClock } from '../support/manual-clock.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../prometheus/tls-fixture.js';

const NO_FILES: TlsFiles = {
  caFile: null,
  certFile: null,
  keyFile: null,
  serverName: null,
  insecureSkipVerify: false,
};

let directory: string;
let path: string;
let clock: ManualClock;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tls-test-'));
  path = join(directory, 'file');
  clock = new ManualClock();
});

afterEach(() => rm(directory, { recursive: true }));

describe('a secret file', () => {
  it('is read again after 10 s, not after 9.999 s, and at once when forced', async () => {
    await writeFile(path, ' one\n');
    const file = createSecretFile({ path, clock });
    const read = [await file.read()];
    await writeFile(path, 'two');
    clock.advance(9999);
    read.push(await file.read());
    clock.advance(1);
    read.push(await file.read());
    await writeFile(path, 'three');
    read.push(await file.read(), await file.read(true));

    expect(read).toEqual(['one', 'one', 'two', 'two', 'three']);
  });

  it('keeps its last content while it is empty or missing, and reports that', async () => {
    await writeFile(path, 'one');
    const reported: string[] = [];
    const file = createSecretFile({ path, clock, onFailure: (why) => reported.push(why) });
    await file.read();

    await writeFile(path, '\n');
    const whileEmpty = await file.read(true);
    await rm(path);
    const whileMissing = await file.read(true);

    expect([whileEmpty, whileMissing]).toEqual(['one', 'one']);
    expect(reported).toEqual([
      `reading ${path}: the file is empty`,
      expect.stringContaining(`reading ${path}: ENOENT`),
    ]);
  });

  it('fails with its path, or with its setting, until it was readable', async () => {
    const named = createSecretFile({ path, clock, setting: 'oauth2.clientSecretFile' });

    await expect(createSecretFile({ path, clock }).read()).rejects.toThrow(`reading ${path}: ENOENT`);
    const reading = named.read();
    await expect(reading).rejects.toThrow(CredentialError);
    await expect(reading).rejects.toThrow('the file of oauth2.clientSecretFile is empty or cannot be read');
    await writeFile(path, 'one');
    expect(await named.read()).toBe('one');
  });
});

describe('the agent of certificate files', () => {
  it('stays while the new files are invalid, and is replaced by valid ones after 10 s', async () => {
    await writeFile(path, TEST_CERTIFICATE);
    const agent = createTlsAgent({ ...NO_FILES, caFile: path }, clock);
    const first = await agent();

    await writeFile(path, '-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----');
    clock.advance(10_000);
    expect(await agent()).toBe(first);
    await writeFile(path, `${TEST_CERTIFICATE}${TEST_CERTIFICATE}`);
    clock.advance(9999);
    expect(await agent()).toBe(first);
    clock.advance(1);

    expect(await agent()).not.toBe(first);
  });

  it('stays while a certificate and its key do not match', async () => {
    const keyFile = join(directory, 'key');
    await writeFile(path, TEST_CERTIFICATE);
    await writeFile(keyFile, TEST_KEY);
    const agent = createTlsAgent({ ...NO_FILES, certFile: path, keyFile }, clock);
    const first = await agent();
    await writeFile(keyFile, 'no key');
    clock.advance(10_000);

    expect(await agent()).toBe(first);
  });

  it('names the setting of files that were never valid', async () => {
    await writeFile(path, 'no certificate');
    const agent = createTlsAgent({ ...NO_FILES, caFile: path }, clock, 'oauth2.tls');

    await expect(agent()).rejects.toThrow(
      new CredentialError('the files of oauth2.tls contain no usable certificate or key'),
    );
  });
});
