"""What only NumPy holds (masked arrays, matrices, dates, records, texts, subclasses) beside arrays
of ours, as programs use them: each expression has NumPy's value, type and class of error.
"""

import numbus as nb
import numpy as np
import pytest

pytestmark = [pytest.mark.numbus]

EXPRESSIONS = {
    "masked": """
        np.ma.array([1,2,3],mask=[0,1,0])
        np.ma.masked_array(np.arange(5.),np.arange(5)>2).mean()
        np.ma.masked_where(x>2,x)
        np.ma.masked_equal(x,1).sum()
        np.ma.masked_invalid(x/x)
        A+x
        x+A
        x*A
        np.sqrt(A)
        np.mean(A)
        np.sum(A,axis=0)
        np.max(A)
        np.median(A)
        np.std(A)
        np.cumsum(A)
        np.concatenate([A,x])
        np.ma.concatenate([A,x])
        np.where(A>1,1,0)
        np.ma.where(A>1,1,0)
        np.sort(np.ma.array(x,mask=x<2))
        A.filled(-1)
        A.compressed()
        A[1:]
        A==x
        x==A
        np.dot(A,x)
        np.ma.getmaskarray(np.ma.array(x))
        np.ma.average(A,weights=x)
        np.reshape(A,(2,2))
        np.ma.median(A)
        np.add(A,1)
        np.add.reduce(A)
        np.isnan(A)
        np.clip(A,0,1)
        np.round(A,1)
        np.any(A>5)
        np.count_nonzero(A)
        np.unique(A)
        np.polyfit(np.arange(4),A,1).round(6)
        np.average(A)
        np.var(A)
        np.percentile(A,50)
        np.diff(A)
        np.argmax(A)
        np.stack([A,x])
        np.vstack([A,x])
        np.append(A,x)
        np.copy(A)
        np.asarray(A)
        np.asanyarray(A)
        np.array(A)
        np.zeros_like(A)
        np.maximum(A,1)
        np.minimum.reduce(A)
        np.power(A,2)
        A[x>0]
        setitem(x,A*2)
        setitem2(A,x*2)
        iop(x.copy(),A)
        iop(A,x)
        x@A
        np.ma.dot(A,x)
        np.linalg.norm(A)
        np.histogram(A,3)
        np.transpose(A)
        np.squeeze(A)
        np.ravel(A)
        np.atleast_2d(A)
        np.flip(A)
        np.roll(A,1)
        np.repeat(A,2)
        np.tile(A,2)
        np.take(A,[0,3])
        np.nanmean(A)
        np.nansum(A)
        np.isclose(A,x)
        np.array_equal(A,x)
        np.outer(A,x)
        np.interp(1.5,A,x)
        """,
    "matrices": """
        np.matrix([[1,2],[3,4]])*np.matrix([[1,0],[0,1]])
        M*m
        m*M
        m@M
        m+M
        M.I
        M.T
        np.dot(M,m)
        np.sum(M,axis=0)
        np.mean(M,axis=1)
        np.asmatrix(m)**2
        np.linalg.inv(M)
        np.exp(M)
        np.sort(M)
        np.concatenate([M,m])
        np.where(M>1,1,0)
        np.transpose(M)
        np.ravel(M)
        np.reshape(M,4)
        np.max(M,0)
        np.cumsum(M)
        np.kron(M,m)
        np.bmat([[m,m]])
        np.diag(M)
        np.matrix('1 2; 3 4')
        np.linalg.solve(M,M)
        np.linalg.eigvals(M)
        np.asarray(M)
        np.array(M)
        np.abs(np.matrix(-m))
        np.multiply(M,m)
        np.squeeze(M)
        np.zeros_like(M)
        np.diff(M)
        np.clip(M,1,2)
        np.prod(M)
        np.argmax(M,1)
        np.cov(M)
        np.einsum('ij->j',M)
        np.tril(M)
        np.trace(M)
        np.outer(M,m)
        """,
    "dates": """
        np.datetime64('2024-01-01')+np.arange(3)
        np.array(['2024-01-01','2024-03-01'],dtype='M8[D]')-np.datetime64('2024-01-01')
        d+np.arange(3)
        np.arange(3)+d
        d-d[0]
        (d-d[0]).askind(int)
        (d-d[0])/np.timedelta64(1,'h')
        np.diff(d)
        np.diff(d).mean()
        np.diff(d).sum()
        d[x[:3]>0]
        d.askind('M8[M]')
        d.askind(float)
        np.sort(d)[::-1]
        np.argsort(d)
        np.unique(d)
        np.searchsorted(d,np.datetime64('2024-01-02'))
        d>np.datetime64('2024-01-01')
        np.where(d>np.datetime64('2024-01-01'),1.5,0)
        np.where(x[:3]>0,d,np.datetime64('NaT'))
        d.min(),d.max(),d.argmax()
        np.maximum(d,d[::-1])
        np.isnat(d)
        np.datetime_as_string(d)
        np.arange(3)*np.timedelta64(2,'D')
        x[:3]*np.timedelta64(2,'D')
        np.timedelta64(2,'D')*x[:3]
        x[:3]+np.timedelta64(2,'D')
        np.cumsum(np.diff(d))
        np.linspace(0,3,4).askind('m8[s]')
        np.arange('2024-01','2024-05',dtype='M8[M]')
        np.busday_offset('2024-01-05',x[:3].askind(int))
        np.array([np.datetime64('2024-01-01'),None])
        d.tolist()
        np.concatenate([d,d])
        np.interp(1.5,np.arange(3),(d-d[0]).askind(float))
        np.median(np.diff(d))
        np.bincount((d-d[0]).askind(int))
        np.histogram(d.askind('i8'),2)
        np.repeat(d,2)
        np.abs(-np.diff(d))
        np.diff(d)//np.timedelta64(5,'h')
        np.diff(d)%np.timedelta64(5,'h')
        np.array([1,2],'m8[s]').view('i8')
        np.arange(3,dtype='i8').view('m8[s]')
        d.view('i8')+1
        np.zeros(2,'M8[s]')
        np.full(2,np.datetime64('2024-01-01'))
        np.ones_like(d,dtype=float)
        np.zeros_like(d)
        np.empty_like(x,dtype='m8[s]').dtype
        np.array_equal(d,d)
        np.isin(d,d[:1])
        np.clip(d,d[0],d[1])
        np.vstack([d,d])
        np.outer(np.diff(d),x[:2])
        np.average(np.diff(d).askind('i8'),weights=x[1:3])
        """,
    "records": """
        np.array([(1,2.5),(3,4.5)],dtype=[('a',int),('b',float)])
        s['a']+x[:2]
        x[:2]*s['b']
        s['b'].mean()
        np.sqrt(s['b'])
        s[s['a']>1]
        s[['a','b']]
        np.sort(s,order='b')
        np.argsort(s,order='b')
        np.zeros(2,dtype=[('a','i4',(2,)),('b','U3')])
        setf(s.copy(),'a',x[:2])
        setf(s.copy(),'a',np.arange(2))
        np.rec.array([(1,2.5)],dtype=[('a',int),('b',float)]).a
        np.rec.fromarrays([x,x*2],names='u,v').v
        s.dtype.names,s.dtype.fields['a']
        s==s
        np.concatenate([s,s])
        s.view('f8')
        s.tolist()
        s[0]['a'],s[0].item(),tuple(s[0])
        np.unique(s)
        np.empty(2,dtype='i4,f8')['f1'].dtype
        np.where(s['a']>1,s['b'],0)
        s['b'].sum()*x
        np.array(s['b'])+1
        np.average(s['b'],weights=s['a'])
        np.dot(s['b'],x[:2])
        s['a'].max()
        np.column_stack([s['a'],s['b']])
        np.isnan(s['b'])
        np.lexsort((s['a'],s['b']))
        """,
    "texts": """
        np.array(['a','bc'])
        np.char.upper(w)
        np.char.add(w,'x')
        np.char.multiply(w,3)
        np.char.split(np.array(['a b','c d']))
        np.char.join('-',w)
        np.char.replace(w,'a','z')
        np.char.strip(np.array([' a ']))
        np.char.isdigit(np.array(['1','a']))
        np.char.count(w,'a')
        np.char.startswith(w,'a')
        np.char.center(w,5)
        np.char.zfill(np.array(['1']),3)
        np.char.encode(w)
        np.strings.upper(w)
        np.strings.str_len(w)
        np.strings.find(w,'b')
        np.strings.add(w,w)
        w=='a'
        w!='a'
        w[w=='a']
        x[:2][w=='a']
        np.where(w=='a',x[:2],0)
        np.where(x[:2]>0,w,'none')
        np.sort(w)[::-1]
        np.unique(w,return_inverse=True)
        np.isin(w,['a'])
        np.concatenate([w,w])
        np.array(['1.5','2']).askind(float)
        np.array(['1.5','2']).askind(float)+x[:2]
        x.askind(str)
        x.askind('U3')
        np.arange(3).askind(str)
        np.array([1,2]).askind('S')
        np.array(['a',1])
        np.array([1,None])
        np.array([1,'a',2.5],dtype=object)
        np.array([x,x],dtype=object).shape
        np.array([[1,2],[3]],dtype=object)
        np.argsort(w)
        np.char.array(['a','b'])+'c'
        np.array(['a','b'],dtype=object)+'c'
        np.array([1,2],dtype=object)*x[:2]
        np.sum(np.array([1,2],dtype=object))
        np.mean(np.array([1,2.5],dtype=object))
        np.vectorize(len)(w)
        np.vectorize(lambda s:s+'!')(w)
        np.array2string(x,precision=2)
        np.char.mod('%.2f',x)
        np.char.mod('%d',np.arange(3))
        np.loadtxt(['1 2','3 4'])
        np.genfromtxt(['1,a','2,b'],delimiter=',',dtype=None,encoding='utf8')
        np.fromstring('1 2 3',sep=' ')
        np.frombuffer(b'abcd',dtype='u1')
        np.frombuffer(b'abcd',dtype='S1')
        np.fromiter('abc',dtype='U1')
        len(np.array('abc').item())
        np.array(b'abc')
        np.ndarray((2,),dtype='U3').dtype
        np.empty(2,dtype='U3').shape
        np.full(2,'a')
        np.full((2,),None)
        np.zeros(2,dtype=object)
        np.repeat(w,2)
        np.tile(w,2)
        np.insert(w,0,'z')
        np.append(w,'z')
        np.delete(w,0)
        np.max(np.array([1,5],dtype=object))
        np.array(['b','a']).max()
        np.array(['b','a']).tolist()
        np.take(w,[0])
        np.searchsorted(np.sort(w),'b')
        np.count_nonzero(w=='a')
        np.equal(w,'a')
        np.greater(w,'a')
        np.array_equal(w,w)
        np.full_like(x,1,dtype=object)
        """,
    "other numbers": """
        np.longdouble(1)/3+x
        np.array([1,2],dtype=np.longdouble)*x[:2]
        np.sum(np.array([1,2],dtype=np.longdouble))
        x.askind(np.longdouble)
        np.array([1,2],dtype='>f8')+x[:2]
        np.array([1,2],dtype='>i4').sum()
        x.askind('>f4')
        np.array([1,2],dtype='>i4').askind('<i4')
        np.array([1.5],dtype='>f8').tobytes()
        x.view('>f8').dtype
        np.frombuffer(b'\\\\x00\\\\x01\\\\x00\\\\x02',dtype='>u2')
        np.frombuffer(b'\\\\x00\\\\x01\\\\x00\\\\x02',dtype='>u2')+1
        """,
    "subclasses": """
        kind(Sub(x)+x),(Sub(x)+x).tolist()
        kind(x+Sub(x))
        kind(np.sin(Sub(x)))
        kind(Sub(x).sum())
        kind(np.sum(Sub(x),axis=0))
        kind(np.concatenate([Sub(x),x]))
        kind(x.view(Sub))
        kind(np.asarray(Sub(x)))
        kind(np.asanyarray(Sub(x)))
        kind(Sub(x)[1:])
        kind(np.sort(Sub(x)))
        kind(np.where(Sub(x)>1,Sub(x),0))
        kind(np.reshape(Sub(x),(2,2)))
        kind(Sub(x)@x)
        kind(np.dot(Sub(x),x))
        kind(np.clip(Sub(x),0,1))
        kind(np.zeros_like(Sub(x)))
        kind(np.cumsum(Sub(x)))
        kind(np.mean(Sub(x)))
        kind(np.max(Sub(x)))
        kind(np.transpose(Sub(x)))
        kind(np.stack([Sub(x)]))
        kind(np.round(Sub(x)))
        kind(np.add.reduce(Sub(x)))
        kind(np.median(Sub(x)))
        kind(np.einsum('i,i',Sub(x),x))
        kind(np.linalg.norm(Sub(x)))
        kind(np.fft.fft(Sub(x)))
        kind(np.take(Sub(x),[0]))
        kind(np.outer(Sub(x),x))
        kind(np.diff(Sub(x)))
        kind(np.abs(Sub(x)))
        kind(np.repeat(Sub(x),2))
        kind(np.unique(Sub(x)))
        kind(np.histogram(Sub(x))[0])
        """,
}


def _environment(np):
    class Sub(np.ndarray):
        def __new__(cls, a):
            return np.asarray(a).view(cls)

    def setitem(x, v):
        x = x.copy()
        x[:] = v
        return x

    def setitem2(x, v):
        x[:] = v
        return x

    def iop(x, v):
        x += v
        return x

    def setf(s, n, v):
        s[n] = v
        return s

    x = np.array([1.0, 2.0, 3.0, 0.5])
    m = np.array([[1.0, 2.0], [3.0, 4.0]])
    return dict(
        np=np,
        Sub=Sub,
        setitem=setitem,
        setitem2=setitem2,
        iop=iop,
        setf=setf,
        kind=lambda v: type(v).__name__,
        x=x,
        A=np.ma.array(x, mask=x > 2),
        m=m,
        M=np.matrix(m),
        w=np.array(["a", "bc"]),
        d=np.array(["2024-01-03", "2024-01-01", "2024-01-02"], dtype="M8[D]"),
        s=np.array([(1, 2.5), (3, 4.5)], dtype=[("a", int), ("b", float)]),
    )


def _shown(text, np):
    try:
        value = eval(text, _environment(np))
        shown = repr(value)
    except Exception as error:
        return type(error).__name__
    kind = type(value).__name__
    return value.dtype.name if kind == "generic" else kind, shown


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", EXPRESSIONS)
def test_expression(kind):
    for text in filter(None, map(str.strip, EXPRESSIONS[kind].split("\n"))):
        ours = _shown(text, nb)
        # Memory of a device is no view of a type that NumPy alone has: an error that says so.
        if ours == "TypeError" and ".view(" in text and nb.zeros(1)._device != "cpu":
            continue
        assert ours == _shown(text, np), text


def test_the_text_of_an_operand_that_only_numpy_holds():
    from numbus.core.errors import ForeignDtype
    from numbus.core.operands import to_ndarray

    with pytest.raises(ForeignDtype) as caught:
        to_ndarray(np.array(["a"], object))
    text = "[array] unsupported element type; got object; expected a Numbus dtype"
    assert str(caught.value) == text
