/** Decides which web addresses may be fetched at all: http and https, without credentials, not in a private network. */
import {BlockList, isIP} from 'node:net';
import {formatHostRule} from '../../core/permissions/rules/rule.ts';
import {MiniCcError} from '../../core/util/errors.ts';

export interface WebAddress {
  readonly url: URL;
  /** A name or an IP address in lower case, without port, brackets and final dot. */
  readonly host: string;
}

/** @throws MiniCcError `WEB_ADDRESS` for text that is not a URL, has another scheme, or contains credentials */
export function parseWebAddress(text: string): WebAddress {
  const url = URL.parse(text.trim());
  if (!url)
    throw refused(`${JSON.stringify(text)} is not a URL: give a complete one, such as https://example.com/page.`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw refused(`${url.protocol}// is not fetched: only http and https are.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw refused('A URL with a user name or password is not fetched: leave them out.');
  }
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (host === '') throw refused(`${JSON.stringify(text)} names no host.`);
  return {url, host};
}

/** Names that belong to this machine or a private network. They are refused before they are resolved. */
const LOCAL_NAME =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|lan|home|home\.arpa|test)$|^[^.:]+$/;

/**
 * Refuses a host whose name or IP address is private. This check comes first, so that no permission is asked and no
 * name is resolved for such a host.
 * @throws MiniCcError `WEB_PRIVATE`
 */
export function refusePrivateName(host: string, mayReachPrivate: (host: string) => boolean): void {
  const isPrivate = isIP(host) === 0 ? LOCAL_NAME.test(host) : classifyAddress(host) !== 'public';
  if (isPrivate && !mayReachPrivate(host)) throw privateHost(host);
}

/**
 * Refuses a private address to which a name resolves. A rule that names a private host allows all of its addresses. A
 * rule that names a public host allows addresses in private networks but never this machine, because the owner of the
 * name decides to what it resolves.
 * @throws MiniCcError `WEB_PRIVATE`
 */
export function refusePrivateAddress(host: string, address: string, mayReachPrivate: (host: string) => boolean): void {
  const reach = classifyAddress(address);
  if (reach === 'public') return;
  const isLocalName = isIP(host) !== 0 || LOCAL_NAME.test(host);
  if (mayReachPrivate(host) && (isLocalName || reach === 'network')) return;
  throw privateHost(host, address);
}

function privateHost(host: string, address = host): MiniCcError {
  const leadsTo = address === host ? `${host} is a private address` : `${host} leads to ${address}, a private address`;
  return new MiniCcError(
    'WEB_PRIVATE',
    `${leadsTo}: it is not fetched. The user can allow it by the rule ${formatHostRule(host)}.`,
  );
}

/** `network`: private networks. `special`: this machine, link-local and all other addresses that are not public. */
type Reach = 'public' | 'network' | 'special';

function classifyAddress(address: string): Reach {
  // `%eth0` at the end names an interface and is not part of the address.
  const bare = address.replace(/%.*$/, '');
  const family = isIP(bare) === 6 ? 'ipv6' : 'ipv4';
  const inner = family === 'ipv6' ? innerAddress(bare) : undefined;
  if (inner !== undefined) return classifyAddress(inner);
  const lists = createBlockLists();
  if (lists.network.check(bare, family)) return 'network';
  if (family === 'ipv6' && !lists.global.check(bare, family)) return 'special';
  return lists.special.check(bare, family) ? 'special' : 'public';
}

/** Returns the IPv4 address inside an IPv6 address, which is IPv4-mapped or translated by a gateway (NAT64). */
function innerAddress(address: string): string | undefined {
  // The URL parser gives each address its canonical form.
  const canonical = URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1) ?? '';
  const [, high, low] = /^(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical) ?? [];
  if (high === undefined || low === undefined) return undefined;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}

const NETWORK = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'];
const SPECIAL = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // These are inside the global IPv6 range: tunnels that contain an IPv4 address, and documentation.
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
];
const GLOBAL = ['2000::/3'];

function createBlockLists() {
  return {network: createBlockList(NETWORK), special: createBlockList(SPECIAL), global: createBlockList(GLOBAL)};
}

function createBlockList(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [net = '', bits] = subnet.split('/');
    list.addSubnet(net, Number(bits), net.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}

function refused(message: string): MiniCcError {
  return new MiniCcError('WEB_ADDRESS', message);
}
