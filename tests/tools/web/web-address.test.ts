import {describe, expect, it} from 'vitest';
import {parseWebAddress, refusePrivateAddress} from '../../../src/tools/web/web-address.ts';
import {fetcher} from './web-server.ts';

const allowNone = () => false;
const everyHost = () => true;

describe('the addresses of web_fetch', () => {
  it('have one spelling of the host, without port', () => {
    for (const [url, host] of [
      ['https://Example.COM:8443/a?b#c', 'example.com'],
      ['http://example.com./', 'example.com'],
      ['http://[2606:4700::1111]:80/', '2606:4700::1111'],
      ['http://bücher.example/', 'xn--bcher-kva.example'],
    ] as const) {
      expect(fetcher().access(url)).toEqual([{kind: 'fetch', host}]);
    }
  });

  it.each([
    ['ftp://example.com/x', /only http and https/],
    ['file:///etc/passwd', /only http and https/],
    ['data:text/plain,hello', /only http and https/],
    ['javascript:alert(1)', /only http and https/],
    ['example.com/page', /is not a URL/],
    ['https://', /is not a URL/],
    ['https://ada:secret@example.com/', /user name or password/],
    ['https://ada@example.com/', /user name or password/],
  ])('refuses %s before anybody is asked', (url, words) => {
    expect(() => fetcher().access(url)).toThrow(words);
  });

  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://0/',
    'http://0.0.0.0:8080/',
    'http://10.1.2.3/',
    'http://172.31.255.255/',
    'http://192.168.1.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://100.64.0.1/',
    'http://198.18.0.1/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://[::]/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::10.0.0.1]/',
    'http://[64:ff9b:1::1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:0:7f00:1::]/',
    'http://[fd00::1]/',
    'http://[fe80::1]/',
    'http://[fec0::1]/',
    'http://[ff02::1]/',
    'http://localhost:3000/',
    'http://LOCALHOST/',
    'http://localhost./',
    'http://api.localhost/',
    'http://printer.local/',
    'http://metadata.google.internal/',
    'http://router.lan/',
    'http://intranet/',
    'http://１２７.0.0.1/',
    'http://127。0。0。1/',
  ])('refuses the private %s before anybody is asked', (url) => {
    expect(() => fetcher([]).access(url)).toThrow(/private address/);
  });

  it('may be private when a rule names the host', () => {
    const {access} = fetcher(['localhost', '169.254.169.254']);
    expect(access('http://localhost:3000/')).toHaveLength(1);
    expect(access('http://0xA9FEA9FE/')).toMatchObject([{host: '169.254.169.254'}]);
    expect(() => access('http://127.0.0.1/')).toThrow(/web_fetch\(domain:127\.0\.0\.1\)/);
    expect(() => access('http://[::1]/')).toThrow(/web_fetch\(domain:\[::1\]\)/);
  });

  it('are checked by the address that a name resolves to; a rule for a public host never allows this machine', () => {
    expect(() => refusePrivateAddress('example.com', '93.184.216.34', allowNone)).not.toThrow();
    expect(() => refusePrivateAddress('example.com', '2606:4700::1111', allowNone)).not.toThrow();
    expect(() => refusePrivateAddress('rebound.example.com', '127.0.0.1', allowNone)).toThrow(/leads to 127\.0\.0\.1/);
    expect(() => refusePrivateAddress('wiki.example.com', '10.0.0.5', allowNone)).toThrow(/leads to 10\.0\.0\.5/);
    expect(() => refusePrivateAddress('wiki.example.com', '10.0.0.5', everyHost)).not.toThrow();
    for (const address of ['127.0.0.1', '169.254.169.254', '::1', 'fe80::1%eth0', '::ffff:127.0.0.1', '0.0.0.0']) {
      expect(() => refusePrivateAddress('wiki.example.com', address, everyHost)).toThrow(/private address/);
      expect(() => refusePrivateAddress('localhost', address, everyHost)).not.toThrow();
    }
  });

  it("are checked in the URL parser's canonical form, so that no other spelling passes the check", () => {
    expect(parseWebAddress('http://0x7f.1:80/').host).toBe('127.0.0.1');
    expect(parseWebAddress('http:\\\\127.0.0.1\\x').host).toBe('127.0.0.1');
    expect(parseWebAddress('http://example.com#@127.0.0.1/').host).toBe('example.com');
    expect(() => parseWebAddress('http://example.com@127.0.0.1/')).toThrow(/user name/);
  });
});
