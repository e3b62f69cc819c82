import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readScalerName } from '../../../src/cli/reach/scaler-name.js';
import { kubeconfigText } from '../../../src/simulator/api/requests/access.js';
import { folderOf } from '../fake-io.js';

const NOWHERE = { env: { HOME: '/nonexistent' } };
const KUBECONFIG = join(
  folderOf({ config: kubeconfigText('http://127.0.0.1:1', { namespace: 'shop' }) }),
  'config',
);
const broken = join(folderOf({ config: '{' }), 'config');

describe('readScalerName', () => {
  it.each([
    ['shop/web', {}, 'shop/web'],
    ['shop/web', { namespace: 'shop' }, 'shop/web'],
    ['web', { namespace: 'shop' }, 'shop/web'],
    ['scaler/web', { namespace: 'shop' }, 'shop/web'],
    ['scalers.promscaler.dev/web', { namespace: 'shop' }, 'shop/web'],
    ['web', {}, 'default/web'],
    ['web', { kubeconfig: KUBECONFIG }, 'shop/web'],
    ['web', { kubeconfig: KUBECONFIG, namespace: 'back' }, 'back/web'],
    ['web', { kubeconfig: broken }, 'default/web'],
    // A namespace may be called like a kind.
    ['deployment/web', {}, 'deployment/web'],
  ])('reads %s with %j as %s', async (text, options, key) => {
    const { namespace, name } = await readScalerName(text, options, NOWHERE);

    expect(`${namespace}/${name}`).toBe(key);
  });

  it('uses the namespace of $KUBECONFIG and of ~/.kube/config', async () => {
    const home = folderOf({ '.kube/config': kubeconfigText('http://127.0.0.1:1', { namespace: 'home' }) });

    const named = await readScalerName('web', {}, { env: { KUBECONFIG, HOME: home } });
    const usual = await readScalerName('web', {}, { env: { HOME: home } });

    expect([named.namespace, usual.namespace]).toEqual(['shop', 'home']);
  });

  it.each([
    ['shop/', {}, 'shop/ is not a valid scaler: use NAMESPACE/NAME, such as shop/web'],
    ['/web', {}, '/web is not a valid scaler'],
    ['a/b/c', {}, 'a/b/c is not a valid scaler'],
    ['', {}, '"" is not a valid scaler'],
    ['shop/web', { namespace: 'back' }, 'shop/web is in namespace shop, but --namespace is back'],
    ['deployment/web', { namespace: 'shop' }, 'Use the name of a scaler, such as web -n shop'],
    ['sts/web', { namespace: 'shop' }, 'sts/web names a workload. Use'],
  ])('rejects %j with %j', async (text, options, message) => {
    await expect(readScalerName(text, options, NOWHERE)).rejects.toThrow(message);
  });
});
