// SPDX-License-Identifier: MIT
// What lies above the regions: the spaces of this machine, or the machines of a cluster with their
// permissions and leases; files that cannot be read, and processes whose space was removed.

class Surroundings {
    constructor() {
        this.element = make('section', {class: 'panel around', 'aria-label': 'Spaces'});
        this.told = '';
    }

    show(situation) {
        const now = JSON.stringify([
            situation.groups.map((group) => ({
                ...group,
                lease_seconds: group.lease_seconds === null,
            })),
            situation.removed,
            situation.unreadable,
        ]);
        if (now === this.told) return;
        this.told = now;
        const groups = situation.groups.map((group) =>
            situation.cluster ? this.machine(group) : this.space(group),
        );
        replace(
            this.element,
            make('h2', {}, situation.cluster ? `Cluster ${situation.cluster}` : 'Spaces'),
            groups.length
                ? make('ul', {class: 'groups'}, groups)
                : make('p', {class: 'small'}, 'There is no space yet: nobody has entered.'),
            situation.removed.map((each) =>
                make(
                    'p',
                    {class: 'trouble'},
                    `removed while in use: pid ${each.pid} still has the file that was ` +
                        each.path,
                ),
            ),
            situation.unreadable.map((each) =>
                make('p', {class: 'trouble'}, `${each.name}: ${each.error}`),
            ),
        );
    }

    space(space) {
        return make(
            'li',
            {class: 'group', 'data-group': space.name},
            make('strong', {}, space.name),
            make(
                'span',
                {class: 'small'},
                `${space.protocol}, ${space.precedence}; ${space.alive} open of ` +
                    `${space.places} places; mode ${space.mode}`,
            ),
            make('span', {class: 'small code'}, space.path),
        );
    }

    machine(machine) {
        return make(
            'li',
            {class: 'group', 'data-group': machine.name},
            make('strong', {}, machine.name),
            make(
                'span',
                {class: `badge ${machine.agent === 'ready' ? 'inside' : 'died-inside'}`},
                machine.agent,
            ),
            make(
                'span',
                {class: 'small'},
                machine.lease_seconds === null ? 'no lease' : 'has a lease',
            ),
            machine.permissions.length
                ? make(
                      'span',
                      {class: 'small permissions'},
                      `may enter: ${machine.permissions
                          .map((each) => `${each.name} (${each.mode})`)
                          .join(', ')}`,
                  )
                : null,
        );
    }
}
