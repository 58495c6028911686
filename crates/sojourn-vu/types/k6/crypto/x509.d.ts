// The module `k6/crypto/x509`: certificates in PEM.

export interface Subject {
  commonName: string;
  country: string;
  postalCode: string;
  stateOrProvinceName: string;
  localityName: string;
  streetAddress: string;
  organizationName: string;
  organizationalUnitName: string[];
  names: { type: string; value: string }[];
}

export interface Certificate {
  altNames: string[];
  fingerPrint: number[];
  issuer: Partial<Subject>;
  notAfter: string;
  notBefore: string;
  publicKey: { algorithm: string; key: any };
  signatureAlgorithm: string;
  subject: Subject;
}

export function getAltNames(pem: string): string[];
export function getIssuer(pem: string): Partial<Subject>;
export function getSubject(pem: string): Subject;
export function parse(pem: string): Certificate;

declare const x509: typeof import('./x509');
export default x509;
