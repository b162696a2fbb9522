#include "runtime/watch/pack.h"

#include "compiler/base/sys/fileio.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

int pack_init(struct pack *p, struct err *err)
{
	memset(p, 0, sizeof(*p));
	p->gzip = libdeflate_alloc_compressor(PACK_LEVEL);
	if (!p->gzip)
		return err_set(err, -ENOMEM, "no memory for the trace");
	return 0;
}

void pack_done(struct pack *p)
{
	if (p->gzip)
		libdeflate_free_compressor(p->gzip);
	free(p->out);
	memset(p, 0, sizeof(*p));
}

static int reserve_room(struct pack *p, size_t need, struct err *err)
{
	char *out;

	if (need <= p->room)
		return 0;
	out = realloc(p->out, need);
	if (!out)
		return err_set(err, -ENOMEM, "no memory for the trace");
	p->out = out;
	p->room = need;
	return 0;
}

int pack_write(struct pack *p, int fd, struct str text, struct err *err)
{
	unsigned char head[4];
	size_t most = libdeflate_gzip_compress_bound(p->gzip, text.n), n;
	int rc = reserve_room(p, sizeof(head) + most, err);

	if (rc < 0)
		return rc;
	n = libdeflate_gzip_compress(p->gzip, text.p, text.n,
				     p->out + sizeof(head), most);
	if (n == 0 || n > UINT32_MAX)
		return err_set(err, -EIO, "a block that cannot be packed");
	for (unsigned i = 0; i < sizeof(head); i++)
		head[i] = (unsigned char)(n >> (8 * i));
	memcpy(p->out, head, sizeof(head));
	p->bytes += n;
	return fileio_write_all(fd, (struct str){p->out, sizeof(head) + n},
				err);
}

int pack_end(int fd, struct err *err)
{
	static const char none[4];

	return fileio_write_all(fd, (struct str){none, sizeof(none)}, err);
}
