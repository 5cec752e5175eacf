import zlib
from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from bench_loop.result import outline, store


def outlines_of_what_is_there(apps: Any, schema_editor: Any) -> None:
    """What publishing does from now on, for what was published before."""
    entries = apps.get_model('leaderboard', 'Entry').objects.select_related('run')
    outlines = apps.get_model('leaderboard', 'Outline').objects
    for entry in entries.iterator(chunk_size=20):
        if entry.run.header.get('imported') is None:
            result = store.from_bytes(zlib.decompress(entry.run.result_bytes), entry.run.public_id)
            outlines.create(entry=entry, data=outline.to_bytes(result))


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0002_interval_of_speed'),
    ]

    operations = [
        migrations.CreateModel(
            name='Outline',
            fields=[
                ('entry', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='outline', serialize=False, to='leaderboard.entry')),
                ('data', models.BinaryField(help_text='As bench_loop.result.outline writes it.')),
            ],
        ),
        migrations.RunPython(outlines_of_what_is_there, migrations.RunPython.noop),
    ]
