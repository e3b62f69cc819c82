import { SIGN_IN_DEFAULTS } from '../../config/sign-in-config.js';
import type { FieldTable } from './field-text.js';

/** The fields of a data source that sign in to a managed Prometheus. */
export const SIGN_IN_FIELDS: FieldTable = {
  'prometheus.NAME.oauth2': {
    description: 'A token by client credentials (RFC 6749), asked for again before it ends.',
  },
  'prometheus.NAME.oauth2.tokenUrl': { description: 'The token endpoint.' },
  'prometheus.NAME.oauth2.clientId': {
    description: 'The client, sent with its secret by Basic authentication.',
  },
  'prometheus.NAME.oauth2.clientSecretFile': {
    description: 'A file with the secret of the client; it is read again for each token.',
  },
  'prometheus.NAME.oauth2.scopes': { description: 'What the token is asked for.', default: [] },
  'prometheus.NAME.oauth2.endpointParams': {
    description: 'Sent along to the token endpoint, such as audience.',
    default: {},
  },
  'prometheus.NAME.oauth2.tls': { description: 'How the token endpoint is trusted, and who we are.' },
  'prometheus.NAME.oauth2.tls.caFile': {
    description: 'Certificates of the authorities that are trusted. Left out: those of the system.',
  },
  'prometheus.NAME.oauth2.tls.certFile': { description: 'Our certificate, together with keyFile.' },
  'prometheus.NAME.oauth2.tls.keyFile': { description: 'Its key, together with certFile.' },
  'prometheus.NAME.oauth2.tls.serverName': {
    description: "The name that the endpoint's certificate must have. Left out: that of the URL.",
  },
  'prometheus.NAME.oauth2.tls.insecureSkipVerify': {
    description: 'Takes any certificate: whoever is on the way gets the secret.',
    default: false,
  },
  'prometheus.NAME.sigv4': { description: 'Each request is signed with AWS Signature Version 4.' },
  'prometheus.NAME.sigv4.region': { description: 'The region of the workspace.' },
  'prometheus.NAME.sigv4.service': {
    description: 'The service that is signed for.',
    default: SIGN_IN_DEFAULTS.service,
  },
  'prometheus.NAME.sigv4.roleArn': { description: 'A role that is assumed with the credentials found.' },
  'prometheus.NAME.sigv4.profile': {
    description: 'A profile of the credentials file. Left out: its default.',
  },
  'prometheus.NAME.sigv4.credentialsFile': {
    description:
      'A file as `aws configure` writes it; it is read again every five minutes. Left out: what the AWS tools find.',
  },
  'prometheus.NAME.azure': { description: 'A token of Microsoft Entra ID.' },
  'prometheus.NAME.azure.clientId': {
    description: 'The identity. Left out: $AZURE_CLIENT_ID, or the only one of the machine.',
  },
  'prometheus.NAME.azure.tenantId': { description: 'Its tenant. Left out: $AZURE_TENANT_ID.' },
  'prometheus.NAME.azure.cloud': { description: "Which of Azure's clouds.", default: SIGN_IN_DEFAULTS.cloud },
  'prometheus.NAME.google': {
    description: 'A token of the application default credentials of Google Cloud.',
  },
};
